-- How many documents there are of each kind.
select d.kind, count(*) as count from forebay.search_document d group by d.kind order by d.kind
