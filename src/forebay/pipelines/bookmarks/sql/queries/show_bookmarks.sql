-- Lists bookmarks with the columns of lists, in the order of the ids $1.
select b.* from forebay.show_bookmarks($1::bigint[]) b
