-- Creates or reopens the job items of jobs whose items have all ended, and makes those of their steps ready that wait for
-- nothing else. Returns the lanes with new work.
create or replace function forebay.start_job_items(
    jobs bigint[], at timestamptz, out steps int[], out lanes bigint[], out seqs bigint[]
) language plpgsql as $$
#variable_conflict use_column
begin
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    select j.id, 0, j.owner_id, j.pipeline_id, '{}', start_job_items.at, start_job_items.at
    from forebay.job j where j.id = any(jobs)
    on conflict (job_id, n) do update set
        status = 'PENDING', verdict = 'DONE', done = 0, dead = 0, error = null, updated_at = excluded.updated_at;
    delete from forebay.dead_letter d where d.job_id = any(jobs) and d.n = 0;
    with queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        select s.id, j.lane_id, j.id, j.owner_id, 0, 0
        from forebay.job j cross join lateral forebay.next_steps(j, 0, true) s where j.id = any(jobs)
        returning step_id, lane_id, seq
    ),
    woken as (
        select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
    ),
    told as (
        select w.*, forebay.wake(w.step_id, w.lane_id, w.seq, start_job_items.at) from woken w
    )
    select coalesce(array_agg(t.step_id), '{}'), coalesce(array_agg(t.lane_id), '{}'), coalesce(array_agg(t.seq), '{}')
    into steps, lanes, seqs from told t;
end $$;
