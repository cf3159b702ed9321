-- How many of documents $1 are of each kind.
select d.kind, count(*) as count from forebay.search_document d where d.id = any($1::bigint[]) group by d.kind order by 2 desc, 1
