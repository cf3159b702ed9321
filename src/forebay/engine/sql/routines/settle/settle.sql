-- Ends many attempts at once. A report whose lease is gone, or no longer contains its task, changes nothing and is counted.
-- Reports are passed as columns, at most one report per item in a call. A column may be an empty array: null, or DONE for
-- outcomes. results: {step name: value}; started: epoch seconds; again_at: when it runs again (null: the step has ended);
-- spent: whether the run counts as an attempt; ends_item: whether the whole item ends with this step.
create or replace function forebay.settle(
    worker_id bigint, tokens bigint[], task_ns int[], outcomes forebay.outcome[], results jsonb[], started float8[],
    again_ats timestamptz[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null,
    out settled bigint, out stale_tokens bigint[], out stale_ns int[], out steps int[], out lanes bigint[],
    out seqs bigint[], out finished_jobs bigint[]
) language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    cut_leases bigint[];
    settled_tasks forebay.follow_up_task[];
    jobs_due bigint[];
begin
with report as materialized (
    select token, n, coalesce(outcome, 'DONE') as outcome, result, started, again_at, spent, ends_item, class, reason
    -- The series informs the planner: without it, the planner assumes at most ten reports and compares each with each lease.
    from rows from (
        unnest(tokens), unnest(task_ns), unnest(outcomes), unnest(results), unnest(started), unnest(again_ats),
        unnest(spents), unnest(ends_items), unnest(classes), unnest(reasons), generate_series(1, cardinality(tokens))
    ) as r(token, n, outcome, result, started, again_at, spent, ends_item, class, reason, place)
),
held as materialized (
    select l.token, l.ns, l.job_id, l.step_id, l.lane_id, l.owner_id, l.attempt, l.claimed_at from forebay.lease l
    where l.token = any(tokens) order by l.token for update
),
task as materialized (  -- a lease, with data of its step and job
    select h.*, s.bit, coalesce(v.downstream, 0) as downstream, coalesce(v.optional, false) as optional, s.name as step,
           coalesce(j.version_id, -j.pipeline_id) as version_id, case when s.after_all then j.job_steps else j.steps end as mask,
           (select sum(upper(r) - lower(r)) from unnest(h.ns) r) as size
    from held h
    join forebay.step s on s.id = h.step_id
    -- One job for each lease: a plan made while the tables were small would pair all jobs with all leases of a step.
    cross join lateral (
        select j.version_id, j.pipeline_id, j.job_steps, j.steps from forebay.job j where j.id = h.job_id offset 0) j
    -- by its bit: the job may have changed to a version in which the step needs others, or is gone
    left join forebay.version_step v on v.version_id = coalesce(j.version_id, -j.pipeline_id) and v.bit = s.bit
),
valid as materialized (
    select r.*, t.job_id, t.step_id, t.lane_id, t.owner_id, t.version_id, t.attempt, t.claimed_at, t.mask, t.size, t.step, t.bit,
           case when f.done then t.bit else 0 end as adds_done,
           case when not f.dead then 0 when r.ends_item then t.mask else t.bit | t.downstream end as adds_dead,
           case when not f.dead then 'DONE' when r.outcome in ('ERROR', 'NOT_FOUND') then r.outcome::text
                else 'SKIPPED' end::forebay.item_status as verdict
    from report r
    join task t on t.token = r.token and t.ns @> r.n
    cross join lateral (
        select d.done, not d.done and r.again_at is null as dead
        from (select r.again_at is null and (
                  r.outcome = 'DONE' or r.ends_item is not true and (r.outcome = 'SKIPPED' or t.optional)) as done) d) f
),
counts as materialized (
    select v.token, count(*) < v.size as is_cut from valid v group by v.token, v.size
),
ended as (
    delete from forebay.lease l using counts c where l.token = c.token and not c.is_cut
),
logged as (
    insert into forebay.attempt
        (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class, reason)
    select job_id, n, step_id, attempt, outcome, owner_id, settle.worker_id, token, to_timestamp(started), at, class, reason
    from valid
),
saved as (
    update forebay.item i set
        done = i.done | v.adds_done,
        dead = i.dead | v.adds_dead,
        verdict = greatest(i.verdict, v.verdict),
        status = case when (i.done | v.adds_done | i.dead | v.adds_dead) & v.mask = v.mask
                      then greatest(i.verdict, v.verdict) else 'PENDING' end,
        -- the key '*', which no step can have, holds `normalized`
        result = case when i.result is null or v.result is null or v.result ? '*'
                      then case when v.result ? '*' then i.result else coalesce(v.result, i.result) end
                      else i.result || v.result end,
        normalized = case when v.result ? '*' then v.result -> '*' else i.normalized end,
        error = case when i.verdict > v.verdict then i.error  -- keep the error of the worst outcome
                     -- a step that ended without failing the item clears the error of its earlier attempts
                     when v.adds_done <> 0 and (i.error ->> 'step' = v.step
                          or (i.done | v.adds_done | i.dead) & v.mask = v.mask) then null
                     when v.adds_done <> 0 then i.error
                     when v.class is null then case when v.adds_dead = 0 then i.error end
                     else jsonb_build_object('step', v.step, 'class', v.class, 'reason', v.reason, 'attempt', v.attempt) end,
        updated_at = at
    from valid v
    -- A step that has ended stays ended, regardless of who reports about it.
    where i.job_id = v.job_id and i.n = v.n and i.status = 'PENDING' and (i.done | i.dead) & v.bit = 0
    returning i.job_id, i.n, i.status, i.done, i.dead, v.version_id, v.lane_id, v.owner_id, v.step_id, v.mask,
              v.adds_done, v.adds_dead, v.outcome, v.attempt, v.claimed_at, v.step, v.class, v.reason, v.again_at, v.spent
),
tally as materialized (
    select job_id,
           count(*) filter (where n > 0 and status = 'DONE') as done,
           count(*) filter (where n > 0 and status = 'SKIPPED') as skipped,
           count(*) filter (where n > 0 and status = 'NOT_FOUND') as not_found,
           count(*) filter (where n > 0 and status = 'ERROR') as error,
           count(*) filter (where n > 0 and status <> 'PENDING') as closed,
           max(status) filter (where n = 0 and status <> 'PENDING') as own,
           min(claimed_at) as claimed_at,
           max(jsonb_build_object('item', n::text, 'step', step, 'class', class, 'reason', reason, 'attempt', attempt, 'at', at)::text)
               filter (where outcome = 'ERROR') as failure
    from saved group by job_id
),
-- In one order, so that two settles never wait for each other. The counts are carried along: joining them again would
-- compare each job of the batch with each other.
locked as materialized (
    select t.* from tally t join forebay.job j on j.id = t.job_id order by j.id for no key update of j
),
counted as (
    update forebay.job j set
        done = j.done + t.done,
        skipped = j.skipped + t.skipped,
        not_found = j.not_found + t.not_found,
        error = j.error + t.error,
        state = forebay.state_after(j, t.done, t.error, t.closed, t.own),
        started_at = coalesce(j.started_at, at),
        finished_at = case when forebay.is_over(j, t.closed, t.own) then at end,
        pace = forebay.pace_after(j, t.closed, t.claimed_at, at),
        last_error = case when forebay.is_over(j, t.closed, t.own) and j.error + t.error = 0 and t.own is distinct from 'ERROR'
                          then null else coalesce(t.failure::jsonb, j.last_error) end,
        updated_at = at
    from locked t
    where j.id = t.job_id and (t.closed > 0 or t.own is not null or j.state = 'QUEUED' or j.started_at is null
          -- updated at most once a second; for a job with one item, heartbeat_at uses the item
          or j.state in ('RUNNING', 'PAUSED') and (t.failure is not null or j.total > 1 and j.updated_at < at - interval '1 second'))
    returning j.id, j.finished_at, j.owner_id, j.pipeline_id, t.done, t.skipped, t.not_found, t.error, t.closed,
              t.closed > 0 and j.sealed and j.job_steps <> 0 and j.state <> 'CANCELLED'
              and j.done + j.skipped + j.not_found + j.error = j.total as is_due
),
tallied as (
    insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
    select c.owner_id, c.pipeline_id, sum(c.done), sum(c.skipped), sum(c.not_found), sum(c.error)
    from counted c where c.closed > 0 group by c.owner_id, c.pipeline_id
)
select (select count(*) from valid),
       case when (select count(*) from valid) < cardinality(tokens) then array(
           select r.token from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
           order by r.token, r.n) else '{}' end,
       case when (select count(*) from valid) < cardinality(tokens) then array(
           select r.n from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
           order by r.token, r.n) else '{}' end,
       array(select c.token from counts c where c.is_cut),
       array(select (s.job_id, s.n, s.step_id, s.lane_id, s.owner_id, s.version_id, s.mask, s.status, s.done, s.dead,
                     s.adds_done, s.adds_dead, s.outcome, s.attempt, s.spent, s.again_at, s.class, s.reason)::forebay.follow_up_task
             from saved s where s.status = 'PENDING' or s.outcome <> 'DONE'),
       array(select c.id from counted c where c.is_due),
       array(select c.id from counted c where c.finished_at is not null)
into settled, stale_tokens, stale_ns, cut_leases, settled_tasks, jobs_due, finished_jobs;

if cardinality(cut_leases) > 0 then
    -- `in … is true` uses a hash table; `= any` would compare each report with each lease.
    update forebay.lease l set ns = l.ns - r.ns
    from (select t.token, range_agg(int4range(t.n, t.n, '[]')) as ns from unnest(tokens, task_ns) t(token, n)
          where (t.token in (select unnest(cut_leases))) is true group by t.token) r
    where l.token = r.token;
end if;
if cardinality(settled_tasks) > 0 or cardinality(jobs_due) > 0 then
    select f.steps, f.lanes, f.seqs into steps, lanes, seqs from forebay.follow_up(settled_tasks, jobs_due, at) f;
else
    steps := '{}'; lanes := '{}'; seqs := '{}';
end if;
end $$;
