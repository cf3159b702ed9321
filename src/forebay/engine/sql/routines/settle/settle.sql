-- Ends many attempts at once. A report whose lease is gone, or no longer contains its task, changes nothing and is counted. A
-- report about a task that has ended in another way, because its item has ended, is logged as CANCELLED and saves nothing.
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
    ended_ordered forebay.ordered_task[];
    ended_children bigint[];
begin
with report as materialized (
    select token, n, coalesce(outcome, 'DONE') as outcome, result, started, again_at, spent, ends_item, class, reason
    -- The series informs the planner: without it, the planner assumes at most ten reports and compares each with each lease.
    from rows from (
        unnest(tokens), unnest(task_ns), unnest(outcomes), unnest(results), unnest(started), unnest(again_ats),
        unnest(spents), unnest(ends_items), unnest(classes), unnest(reasons), generate_series(1, cardinality(tokens))
    ) as r(token, n, outcome, result, started, again_at, spent, ends_item, class, reason, place)
),
asked as materialized (  -- the reports of each lease
    select r.token, count(*) as reports, min(r.n) as first_n, max(r.n) as last_n from report r group by r.token
),
-- Leases are locked in the order of tokens, in which `= any` finds them, so that two transactions never wait for each other.
-- `in … is true` uses a hash table under any statistics: those of this table may be from when it was empty.
-- Leases that end and leases that are cut are changed one kind after the other, so all are locked before. Batches of many leases
-- are those of one task each, of which none is cut: there a second look would cost more than the rare deadlock, which is repeated.
found as materialized (
    select ((l.token, lower(l.ns), upper(l.ns)) in (
        select a.token, a.first_n, a.last_n + 1 from asked a where a.reports = a.last_n - a.first_n + 1)) is true as is_whole
    from forebay.lease l where (select count(*) from asked) between 2 and 100 and l.token = any(tokens)
),
locked as materialized (
    select from forebay.lease l
    where (select bool_or(f.is_whole) and not bool_and(f.is_whole) from found f) and l.token = any(tokens)
    order by l.token for update
),
ended as (  -- the leases all of whose tasks are reported
    delete from forebay.lease l
    where (select count(*) from locked) >= 0 and l.token = any(tokens) and case
        when upper(l.ns) = lower(l.ns) + 1 then ((l.token, lower(l.ns)) in (select r.token, r.n from report r)) is true
        else ((l.token, lower(l.ns), upper(l.ns)) in (
            select a.token, a.first_n, a.last_n + 1 from asked a where a.reports = a.last_n - a.first_n + 1)) is true end
    returning l.token, l.ns, l.job_id, l.step_id, l.lane_id, l.owner_id, l.attempt, l.claimed_at
),
cut as materialized (  -- the others that exist
    select l.token, l.ns, l.job_id, l.step_id, l.lane_id, l.owner_id, l.attempt, l.claimed_at from forebay.lease l
    where (select coalesce(sum(upper(e.ns) - lower(e.ns)), 0) from ended e) < cardinality(tokens)
      and l.token = any(tokens) and l.token not in (select e.token from ended e)
    order by l.token for update
),
task as materialized (  -- a lease, with data of its step and job
    select h.*, s.bit, s.ordered, coalesce(v.downstream, 0) as downstream, coalesce(v.optional, false) as optional, s.name as step,
           coalesce(j.version_id, -j.pipeline_id) as version_id, case when s.after_all then j.job_steps else j.steps end as mask,
           j.total = 1 and j.job_steps = 0 as is_single
    from (select e.*, false as is_cut from ended e union all select c.*, true from cut c) h
    join forebay.step s on s.id = h.step_id
    -- One job for each lease: a plan made while the tables were small would pair all jobs with all leases of a step.
    cross join lateral (
        select j.version_id, j.pipeline_id, j.job_steps, j.steps, j.total from forebay.job j where j.id = h.job_id offset 0) j
    -- by its bit: the job may have changed to a version in which the step needs others, or is gone
    left join forebay.version_step v on v.version_id = coalesce(j.version_id, -j.pipeline_id) and v.bit = s.bit
),
valid as materialized (
    select r.*, t.job_id, t.step_id, t.lane_id, t.owner_id, t.version_id, t.attempt, t.claimed_at, t.mask, t.is_cut, t.step, t.bit,
           t.ordered, t.is_single, case when f.done then t.bit else 0 end as adds_done,
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
        -- Of two settles, the one that began first may end last: its time is then next to the later one, so that who reads
        -- changes in the order of their times sees it.
        updated_at = case when i.updated_at > at then i.updated_at + interval '1 microsecond' else at end
    from valid v
    -- A step that has ended stays ended, regardless of who reports about it.
    where i.job_id = v.job_id and i.n = v.n and i.status = 'PENDING' and (i.done | i.dead) & v.bit = 0
    returning i.job_id, i.n, i.status, i.done, i.dead, v.version_id, v.lane_id, v.owner_id, v.step_id, v.mask,
              v.adds_done, v.adds_dead, v.outcome, v.attempt, v.claimed_at, v.step, v.class, v.reason, v.again_at, v.spent, v.is_single
),
sums as materialized (select (select count(*) from valid) as valid, (select count(*) from saved) as saved),
logged as (
    insert into forebay.attempt
        (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class, reason)
    select v.job_id, v.n, v.step_id, v.attempt, case when u.is_unsaved then 'CANCELLED' else v.outcome end, v.owner_id,
           settle.worker_id, v.token, to_timestamp(v.started), at,
           case when u.is_unsaved then 'cancelled' else v.class end,
           case when u.is_unsaved then coalesce(v.reason, 'the item had already ended') else v.reason end
    -- The counts are equal but in rare cases; only then are the two compared.
    from valid v cross join lateral (
        select (select s.saved < s.valid from sums s)
               and (v.job_id, v.n) not in (select s.job_id, s.n from saved s) as is_unsaved) u
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
    from saved where not is_single group by job_id
    union all  -- of a job with one item, there is nothing to sum up
    select job_id, (status = 'DONE')::int, (status = 'SKIPPED')::int, (status = 'NOT_FOUND')::int, (status = 'ERROR')::int,
           (status <> 'PENDING')::int, null, claimed_at,
           case when outcome = 'ERROR' then jsonb_build_object(
               'item', n::text, 'step', step, 'class', class, 'reason', reason, 'attempt', attempt, 'at', at)::text end
    from saved where is_single
),
counted as (
    update forebay.job j set
        done = j.done + t.done,
        skipped = j.skipped + t.skipped,
        not_found = j.not_found + t.not_found,
        error = j.error + t.error,
        state = forebay.state_after(j, t.done, t.error, t.closed, t.own),
        started_at = coalesce(j.started_at, at),
        -- Later than the change before, also where the clock stands still or this settle began before that one: who reads
        -- changes in the order of their times sees each of them.
        finished_at = case when forebay.is_over(j, t.closed, t.own) then greatest(at, j.updated_at + interval '1 microsecond') end,
        pace = forebay.pace_after(j, t.closed, t.claimed_at, at),
        last_error = case when forebay.is_over(j, t.closed, t.own) and j.error + t.error = 0 and t.own is distinct from 'ERROR'
                          then null else coalesce(t.failure::jsonb, j.last_error) end,
        updated_at = greatest(at, j.updated_at + interval '1 microsecond')
    -- In one order, so that two settles never wait for each other.
    from (select * from tally order by job_id) t
    where j.id = t.job_id and (t.closed > 0 or t.own is not null or j.state = 'QUEUED' or j.started_at is null
          -- updated at most once a second; for a job with one item, heartbeat_at uses the item
          or j.state in ('RUNNING', 'PAUSED') and (t.failure is not null or j.total > 1 and j.updated_at < at - interval '1 second'))
    returning j.id, j.finished_at, j.owner_id, j.pipeline_id, j.parent_id, t.done, t.skipped, t.not_found, t.error, t.closed,
              t.closed > 0 and j.sealed and j.job_steps <> 0 and j.state <> 'CANCELLED'
              and j.done + j.skipped + j.not_found + j.error = j.total as is_due
),
tallied as (
    insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
    select c.owner_id, c.pipeline_id, sum(c.done), sum(c.skipped), sum(c.not_found), sum(c.error)
    from counted c where c.closed > 0 group by c.owner_id, c.pipeline_id
)
select (select s.valid from sums s),
       case when (select s.valid from sums s) < cardinality(tokens) then array(
           select r.token from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
           order by r.token, r.n) else '{}' end,
       case when (select s.valid from sums s) < cardinality(tokens) then array(
           select r.n from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
           order by r.token, r.n) else '{}' end,
       array(select distinct v.token from valid v where v.is_cut),
       array(select (s.job_id, s.n, s.step_id, s.lane_id, s.owner_id, s.version_id, s.mask, s.status, s.done, s.dead,
                     s.adds_done, s.adds_dead, s.outcome, s.attempt, s.spent, s.again_at, s.class, s.reason)::forebay.follow_up_task
             from saved s where s.status = 'PENDING' or s.outcome <> 'DONE'),
       array(select c.id from counted c where c.is_due),
       array(select c.id from counted c where c.finished_at is not null),
       array(select row(0, v.bit, v.owner_id, '', v.job_id, v.n, false)::forebay.ordered_task from valid v
             where v.ordered and (v.again_at is null or (v.job_id, v.n) not in (select s.job_id, s.n from saved s))),
       array(select c.id from counted c where c.finished_at is not null and c.parent_id is not null)
into settled, stale_tokens, stale_ns, cut_leases, settled_tasks, jobs_due, finished_jobs, ended_ordered, ended_children;

if cardinality(cut_leases) > 0 then
    -- `in … is true` uses a hash table; `= any` would compare each report with each lease.
    update forebay.lease l set ns = l.ns - r.ns
    from (select t.token, range_agg(int4range(t.n, t.n, '[]')) as ns from unnest(tokens, task_ns) t(token, n)
          where (t.token in (select unnest(cut_leases))) is true group by t.token) r
    where l.token = r.token;
    delete from forebay.lease l where l.token = any(cut_leases) and isempty(l.ns);  -- what was reported surrounded a gap
end if;
if cardinality(settled_tasks) > 0 or cardinality(jobs_due) > 0 then
    select f.steps, f.lanes, f.seqs into steps, lanes, seqs from forebay.follow_up(settled_tasks, jobs_due, at) f;
else
    steps := '{}'; lanes := '{}'; seqs := '{}';
end if;
if cardinality(ended_ordered) > 0 then
    select settle.steps || coalesce(array_agg(e.step_id), '{}'), settle.lanes || coalesce(array_agg(e.lane_id), '{}'),
           settle.seqs || coalesce(array_agg(e.seq), '{}')
    into steps, lanes, seqs from forebay.end_ordered(ended_ordered, at) e;
end if;
if cardinality(ended_children) > 0 then
    perform forebay.end_maps(ended_children, at);
end if;
end $$;
