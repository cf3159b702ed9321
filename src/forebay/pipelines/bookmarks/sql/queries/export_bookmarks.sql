-- Lists some bookmarks of the acting owner, after category $1 (0: none) and id $2.
select e.* from forebay.export_bookmarks($1::bigint, $2::bigint, $3::int) e
