-- Handles the consequences of settled tasks: retries, dead letters, the steps that waited for them, and the `after_all` steps
-- of jobs whose items have all ended. Returns the lanes with new work.
create or replace function forebay.follow_up(
    settled forebay.follow_up_task[], jobs_due bigint[], at timestamptz, out steps int[], out lanes bigint[], out seqs bigint[]
) language plpgsql as $$
#variable_conflict use_column
begin
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select again_at, step_id, lane_id, job_id, owner_id, n, n, attempt - (not spent)::int
    from unnest(settled) where again_at > at;
    insert into forebay.dead_letter (job_id, n, step_id, owner_id, outcome, attempt, class, reason, at)
    select job_id, n, step_id, owner_id, outcome, attempt, class, reason, follow_up.at
    from unnest(settled) where adds_dead <> 0 and outcome = 'ERROR'
    on conflict (job_id, n, step_id) do update set
        outcome = excluded.outcome, attempt = excluded.attempt, class = excluded.class, reason = excluded.reason, at = excluded.at;
    with follower as (  -- steps that waited only for this task
        select q.job_id, f.step_id, q.lane_id, q.owner_id, 0 as attempt, range_agg(int4range(q.n, q.n, '[]')) as ns
        from unnest(settled) q
        join forebay.version_step f on f.version_id = q.version_id and f.bit & q.mask <> 0
            and f.needs & q.adds_done <> 0 and f.needs & ~q.done = 0 and f.bit & (q.done | q.dead) = 0
        where q.status = 'PENDING'
        group by q.job_id, f.step_id, q.lane_id, q.owner_id
        union all
        select job_id, step_id, lane_id, owner_id, attempt - (not spent)::int, int4multirange(int4range(n, n, '[]'))
        from unnest(settled) where again_at <= at
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select f.step_id, f.lane_id, f.job_id, f.owner_id, lower(r), upper(r) - 1, f.attempt from follower f, unnest(f.ns) r
        returning step_id, lane_id, seq
    ),
    woken as (
        select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
    ),
    told as (
        select w.*, forebay.wake(w.step_id, w.lane_id, w.seq, follow_up.at) from woken w
    )
    select coalesce(array_agg(t.step_id), '{}'), coalesce(array_agg(t.lane_id), '{}'), coalesce(array_agg(t.seq), '{}')
    into steps, lanes, seqs from told t;
    if cardinality(jobs_due) > 0 then
        select follow_up.steps || s.steps, follow_up.lanes || s.lanes, follow_up.seqs || s.seqs into steps, lanes, seqs
        from forebay.start_job_items(jobs_due, at) s;
    end if;
end $$;
