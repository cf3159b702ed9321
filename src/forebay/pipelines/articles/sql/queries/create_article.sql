-- Adds an article for owner $2, from address $3, with the rights of role $1, and returns it, in one statement.
select b.*
from forebay.enter($1, $2, $3) e
cross join lateral forebay.create_article(
    $2, case when e.owner is not null then $4::text end, $5::text, $6::text, $7::text, $8::text, $9::text, $10::int, $11::boolean,
    $12::text, $13::boolean, $14::text, $15::text) a
cross join lateral forebay.show_articles(array[a.id]) b
