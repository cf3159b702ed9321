-- Counts bookmarks of the acting owner that match the query $1, if any, and the filter $2; reads at most $3.
select f.facet, f.value, f.bookmarks from forebay.bookmark_facets($1::text, $2::text::jsonb, $3::int) f
