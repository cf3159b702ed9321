-- Lists bookmarks of the acting owner that match the query $1, the best first, after the one with rank $5 and id $6.
select b.*, r.rank, r.snippet
from forebay.search_bookmarks($1::text, $2::boolean, $3::bigint, $4::text, $5::real, $6::bigint, $7::int) r
join lateral forebay.show_bookmarks(array[r.id]) b on true
order by r.rank desc, r.id desc
