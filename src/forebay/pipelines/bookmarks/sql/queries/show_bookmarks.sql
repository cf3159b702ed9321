-- Bookmarks as lists show them, in the order of their ids in $1.
select b.* from forebay.show_bookmarks($1::bigint[]) b
