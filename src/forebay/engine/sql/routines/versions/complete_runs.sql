-- Gives the open items of a job the tasks that they should have and have not; ends those that have nothing left to do. Returns
-- how many tasks were added.
create or replace function forebay.complete_runs(job forebay.job, at timestamptz) returns bigint
language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    lane bigint := forebay.lane_of(job.id);
    wanted record;
    has int4multirange;
    size bigint;
    added bigint := 0;
begin
    for wanted in
        with plan as materialized (
            select i.done, i.dead, i.n = 0 as is_job_item, range_agg(int4range(i.n, i.n, '[]')) as ns
            from forebay.item i
            where i.job_id = job.id and i.status = 'PENDING' and (i.n > 0 or forebay.first_open_item(i.job_id) is null)
            group by 1, 2, 3
        )
        select s.id as step_id, range_agg(p.ns) as ns
        from plan p cross join lateral forebay.next_steps(job, p.done, p.is_job_item) s
        where s.bit & p.dead = 0
        group by s.id order by s.id
    loop
        select coalesce(range_agg(r.ns), '{}') into has
        from (select int4multirange(int4range(r.first_n, r.last_n, '[]')) as ns from forebay.ready r
              where r.step_id = wanted.step_id and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id
              union all
              select int4multirange(int4range(s.first_n, s.last_n, '[]')) from forebay.scheduled s
              where s.job_id = job.id and s.step_id = wanted.step_id
              union all
              select l.ns from forebay.lease l where l.job_id = job.id and l.step_id = wanted.step_id) r;
        with queued as (
            insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
            select wanted.step_id, lane, job.id, job.owner_id, f, least(f + 499, upper(r) - 1)
            from unnest(wanted.ns - has) r cross join lateral generate_series(lower(r), upper(r) - 1, 500) f
            order by f returning last_n - first_n + 1 as size
        )
        select coalesce(sum(q.size), 0) into size from queued q;
        added := added + size;
    end loop;
    perform forebay.end_complete_items(job, at);
    perform forebay.wake_job(job, at);
    return added;
end $$;
