-- The open tasks of a job as runs, at most max_runs of each place: `leased` by a worker, `scheduled` for the time `at`, `held`
-- by pause_item(), or `ready`. A job of more than 1000 items has lanes of its own, in which its ready runs are. Those of a smaller
-- one are in its owner's lane, perhaps behind many others: there, the items say which steps are next, and a task that is in no
-- other place is ready.
create or replace function forebay.open_runs(job forebay.job, max_runs int default 10000)
returns table (step_bit bigint, place text, first_n int, last_n int, at timestamptz)
language plpgsql stable rows 1000 set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
begin
    return query
    select s.bit, 'leased', lower(r), upper(r) - 1, l.claimed_at
    from forebay.lease l join forebay.step s on s.id = l.step_id cross join lateral unnest(l.ns) r
    where l.job_id = job.id limit max_runs;
    return query
    select s.bit, case when t.run_at = 'infinity' then 'held' else 'scheduled' end, t.first_n, t.last_n, t.run_at
    from forebay.scheduled t join forebay.step s on s.id = t.step_id
    where t.job_id = job.id order by t.first_n limit max_runs;
    if job.total > 1000 then
        return query
        select s.bit, 'ready', r.first_n, r.last_n, null::timestamptz
        from forebay.ready r join forebay.step s on s.id = r.step_id
        where r.step_id = any(forebay.steps_of(job)) and r.job_id = job.id
          and r.lane_id = any(array(select l.id from forebay.lane l where l.job_id = job.id and l.job_id <> 0))
        limit max_runs;
    else
        return query
        select v.bit, 'ready', i.n, i.n, null::timestamptz
        from forebay.item i join forebay.version_step v on v.version_id = coalesce(job.version_id, -job.pipeline_id)
        where i.job_id = job.id and i.status = 'PENDING' and v.after_all = (i.n = 0)
          and v.bit & case when i.n = 0 then job.job_steps else job.steps end <> 0
          and v.bit & (i.done | i.dead) = 0 and v.needs & ~i.done = 0
          and not exists (select from forebay.lease l join forebay.step s on s.id = l.step_id
                          where l.job_id = job.id and s.bit = v.bit and l.ns @> i.n)
          and not exists (select from forebay.scheduled t join forebay.step s on s.id = t.step_id
                          where t.job_id = job.id and s.bit = v.bit and i.n between t.first_n and t.last_n);
    end if;
end $$;
