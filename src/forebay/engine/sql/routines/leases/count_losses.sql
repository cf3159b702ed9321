-- How often the tasks of these leases were lost with their worker since they last ended; those that never were are left out.
create or replace function forebay.count_losses(tokens bigint[]) returns table (token bigint, n int, times bigint)
language sql stable set enable_seqscan = off set jit = off as $$
with history as (  -- the outcomes of earlier attempts of these tasks, and which of them ended last
    select l.token, a.n, a.earlier, a.outcome,
           max(a.earlier) filter (where a.outcome in ('DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'CANCELLED'))
               over (partition by l.token, a.n) as ended
    from forebay.lease l cross join lateral unnest(l.ns) r cross join lateral (
        select a.n, a.token as earlier, a.outcome from forebay.attempt a
        where a.job_id = l.job_id and a.n >= lower(r) and a.n < upper(r) and a.step_id = l.step_id offset 0) a
    where l.token = any(tokens)
)
select h.token, h.n, count(*) from history h
where h.outcome = 'EXPIRED' and h.earlier > coalesce(h.ended, 0) group by h.token, h.n
$$;
