-- Lists matching bookmarks of the acting owner before id $1, newest first.
select b.*
from forebay.show_bookmarks(forebay.find_bookmarks(
    $1::bigint, $2::boolean, $3::bigint, $4::text, $5::text, $6::boolean, $7::int)) b
