-- The articles of the acting owner, the last changed first.
select f.id, f.updated_at from forebay.find_articles($1::text[], $2::timestamptz, $3::bigint, $4::int) f
