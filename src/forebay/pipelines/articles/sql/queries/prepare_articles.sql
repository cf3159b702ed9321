-- What the tasks of articles $1 need to know.
select p.* from forebay.prepare_articles($1::bigint[]) p
