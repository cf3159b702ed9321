-- Finds products whose brand and title have these words, or similar ones, in the catalogues that an owner may use.
select id, catalogue, fields from forebay.find_products($1, $2, $3, $4)
