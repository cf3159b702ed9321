-- Adds a bookmark for owner $2, from address $3, with the rights of role $1, and returns it, in one statement.
select b.*, a.created
from forebay.enter($1, $2, $3) e
cross join lateral forebay.add_bookmark(
    $2, case when e.owner is not null then $4::text end, $5::bytea, $6::text, $7::text, $8::text[], $9::bigint, $10::int,
    null, $11::boolean, $12::text, $13::text) a
cross join lateral forebay.show_bookmarks(array[a.id]) b
