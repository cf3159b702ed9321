-- Articles with the columns of lists.
select s.* from forebay.show_articles($1::bigint[]) s
