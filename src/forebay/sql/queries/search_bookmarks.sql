-- Bookmarks that answer the question $2, the best first, after the one with rank $6 and id $7.
select b.*, r.rank, r.snippet
from forebay.search_bookmarks(
    $1::bigint, $2::text, $3::boolean, $4::bigint, $5::text, $6::real, $7::bigint, $8::int) r
join lateral forebay.show_bookmarks(array[r.id]) b on true
order by r.rank desc, r.id desc
