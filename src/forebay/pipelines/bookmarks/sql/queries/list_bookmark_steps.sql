-- Lists the steps of the bookmarks $1 in order.
select s.* from forebay.bookmark_steps($1::bigint[]) s
