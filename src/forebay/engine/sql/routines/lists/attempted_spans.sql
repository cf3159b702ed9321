-- Where jobs have attempts that ended after `since`: the first and the last item (null: none), and what else may have changed items:
-- is_cut (more than max_attempts of all jobs ended: the others were not read) and the newest audit record.
create or replace function forebay.attempted_spans(job_ids bigint[], since timestamptz, max_attempts int)
returns table (id bigint, owner_id bigint, state text, total int, done int, skipped int, not_found int, error int,
               updated_at timestamptz, first_n int, last_n int, is_cut boolean, audit_id bigint)
language sql stable set enable_seqscan = off set jit = off as $$
with recent as materialized (
    select a.job_id, a.n from forebay.attempt a where a.ended_at > since limit max_attempts + 1
)
select j.id, j.owner_id, j.state::text, j.total, j.done, j.skipped, j.not_found, j.error, j.updated_at,
       r.first_n, r.last_n, (select count(*) from recent) > max_attempts, a.id
from unnest(job_ids) k(id)
cross join lateral (select j.* from forebay.job j where j.id = k.id limit 1) j
cross join lateral (
    select min(r.n) as first_n, max(r.n) as last_n from recent r where r.job_id = k.id and r.n > 0) r
left join lateral (
    select a.id from forebay.audit a where a.job_id = k.id order by a.id desc limit 1) a on true
$$;
