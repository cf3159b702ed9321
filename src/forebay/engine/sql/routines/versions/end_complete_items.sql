-- Ends the open items of a job that have nothing left to do, as the steps that they waited for are gone from the job's version.
-- settle() knows all that follows from an item's end; it needs a lease of a step that has not ended.
create or replace function forebay.end_complete_items(job forebay.job, at timestamptz) returns void
language plpgsql set jit = off as $$
#variable_conflict use_column
declare
    batch record;
    lease_token bigint;
    size int;
begin
    for batch in
        with complete as (
            select i.n, i.done, i.dead from forebay.item i
            where i.job_id = job.id and i.status = 'PENDING'
              and case when i.n = 0 then job.job_steps else job.steps end & ~(i.done | i.dead) = 0
        ),
        divided as (
            select c.*, row_number() over (partition by c.done, c.dead, c.n = 0 order by c.n) / 1000 as part from complete c
        ),
        grouped as (
            select d.done, d.dead, d.n = 0 as is_job_item, array_agg(d.n order by d.n) as ns
            from divided d group by d.done, d.dead, d.n = 0, d.part
        )
        select g.ns, s.id as step_id, s.bit & g.dead as freed
        from grouped g
        cross join lateral (
            select s.id, s.bit from forebay.step s
            where s.pipeline_id = job.pipeline_id and s.after_all = g.is_job_item and s.bit & g.done = 0
            order by s.bit & g.dead, s.id limit 1) s
    loop
        lease_token := forebay.next_token();
        size := cardinality(batch.ns);
        if batch.freed <> 0 then  -- all steps have ended, because the last ones died with another: one of them ends again
            update forebay.item i set dead = i.dead & ~batch.freed where i.job_id = job.id and i.n = any(batch.ns);
        end if;
        insert into forebay.lease (token, step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select lease_token, batch.step_id, job.lane_id, job.id, job.owner_id, 0, 0, at, at, range_agg(int4range(n, n, '[]'))
        from unnest(batch.ns) n;
        perform forebay.settle(
            0, array_fill(lease_token, array[size]), batch.ns, array_fill('SKIPPED'::forebay.outcome, array[size]), '{}',
            array_fill(extract(epoch from at)::float8, array[size]), '{}', '{}', array_fill(batch.freed <> 0, array[size]), '{}',
            array_fill('the step is gone from the pipeline'::text, array[size]), at);
    end loop;
end $$;
