-- Bookmarks that fit, newest first, before id $2.
select b.*
from forebay.show_bookmarks(
    forebay.find_bookmarks($1::bigint, $2::bigint, $3::boolean, $4::bigint, $5::text, $6::text, $7::boolean, $8::int)) b
