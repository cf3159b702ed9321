-- Adds the words of documents $1 to those that typing errors are corrected with. In order, so that nobody waits in a circle.
-- Known words are left to the conflict, which uses the index whatever the statistics: a join with them took twenty times as long.
insert into forebay.search_word (owner_id, word)
select distinct d.owner_id, w.word
from forebay.search_document d
cross join lateral unnest(tsvector_to_array(to_tsvector('pg_catalog.simple', left(d.title || ' ' || d.body, 50000)))) w(word)
where d.id = any($1::bigint[]) and length(w.word) between 4 and 30 and w.word !~ '[^[:alpha:]]'
order by 1, 2
on conflict do nothing
