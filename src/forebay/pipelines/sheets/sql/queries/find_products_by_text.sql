-- Products whose brand and title have these words, or are spelled alike, in the catalogues of an owner and in shared ones.
select id, catalogue, fields from forebay.find_products($1, $2, $3, $4)
