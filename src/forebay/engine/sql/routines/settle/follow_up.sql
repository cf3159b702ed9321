-- What settled tasks entail: retries, dead letters, the steps that waited for them, and the steps of jobs whose items have
-- all ended. Tells which lanes have something new.
create or replace function forebay.follow_up(
    sequels forebay.sequel[], own_turns bigint[], at timestamptz, out steps int[], out lanes bigint[], out seqs bigint[]
) language plpgsql as $$
#variable_conflict use_column
begin
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select again_at, step_id, lane_id, job_id, owner_id, n, n, attempt - (not spent)::int
    from unnest(sequels) where again_at > at;
    insert into forebay.dead_letter (job_id, n, step_id, owner_id, outcome, attempt, class, reason, at)
    select job_id, n, step_id, owner_id, outcome, attempt, class, reason, follow_up.at
    from unnest(sequels) where adds_dead <> 0 and outcome = 'ERROR'
    on conflict (job_id, n, step_id) do update set
        outcome = excluded.outcome, attempt = excluded.attempt, class = excluded.class, reason = excluded.reason, at = excluded.at;
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    select j.id, 0, j.owner_id, j.pipeline_id, '{}', follow_up.at, follow_up.at
    from forebay.job j where j.id = any(own_turns)
    on conflict (job_id, n) do update set
        status = 'PENDING', verdict = 'DONE', done = 0, dead = 0, error = null, updated_at = excluded.updated_at;
    delete from forebay.dead_letter d where d.job_id = any(own_turns) and d.n = 0;
    with follower as (  -- steps for which this was the last thing they waited for
        select q.job_id, f.id as step_id, q.lane_id, q.owner_id, 0 as attempt, range_agg(int4range(q.n, q.n, '[]')) as ns
        from unnest(sequels) q
        join forebay.step f on f.pipeline_id = q.pipeline_id and f.active and f.bit & q.mask <> 0
            and f.needs & q.adds_done <> 0 and f.needs & ~q.done = 0 and f.bit & (q.done | q.dead) = 0
        where q.status = 'PENDING'
        group by q.job_id, f.id, q.lane_id, q.owner_id
        union all
        select job_id, step_id, lane_id, owner_id, attempt - (not spent)::int, int4multirange(int4range(n, n, '[]'))
        from unnest(sequels) where again_at <= at
        union all
        select j.id, s.id, j.lane_id, j.owner_id, 0, int4multirange(int4range(0, 0, '[]'))
        from forebay.job j
        join forebay.step s on s.pipeline_id = j.pipeline_id and s.active and s.after_all and s.needs = 0
            and s.bit & j.job_steps <> 0
        where j.id = any(own_turns)
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
end $$;
