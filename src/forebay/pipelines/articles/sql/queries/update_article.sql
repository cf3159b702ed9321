-- Changes an article.
select forebay.update_article(
    $1::bigint, $2::int, $3::text, $4::text, $5::text, $6::text, $7::text, $8::int, $9::boolean, $10::text, $11::boolean,
    $12::interval, $13::interval, $14::text, $15::text)
