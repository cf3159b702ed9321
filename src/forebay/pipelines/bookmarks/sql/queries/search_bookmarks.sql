-- Lists bookmarks of the acting owner that match the query $1 and the filter $2, the best first, after the one with rank $3 and id
-- $4.
select b.*, r.rank, r.snippet
from forebay.rank_bookmarks($1::text, $2::text::jsonb, $3::real, $4::bigint, $5::int) r
join lateral forebay.show_bookmarks(array[r.id]) b on true
order by r.rank desc, r.id desc
