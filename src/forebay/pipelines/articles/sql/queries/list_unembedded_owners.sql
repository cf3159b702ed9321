-- Owners that have articles without vectors and without a task, after $1, at most $2.
select distinct a.owner_id from forebay.article a
where a.owner_id > $1 and a.embedding in ('stale', 'off', 'waiting') and not a.skip_embedding
order by a.owner_id limit $2
