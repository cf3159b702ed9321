-- Saves an article of a file for owner $1.
select forebay.import_article($1, $2::text, $3::text, $4::text, $5::text, $6::text, $7::int, $8, $9::text, $10)
