-- Ends many attempts at once. A report whose lease is gone, or no longer holds its task, changes nothing and is counted.
-- Reports are columns side by side, at most one an item in one call; columns may be empty arrays: null, DONE for outcomes.
-- results: {step name: value}; started: epoch seconds; again_at: when it runs again (null: the step has ended);
-- spent: whether that run counts as an attempt; ends_item: whether the whole item ends with this step.
create or replace function forebay.settle(
    worker_id bigint, tokens bigint[], task_ns int[], outcomes forebay.outcome[], results jsonb[], started float8[],
    again_ats timestamptz[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null
) returns table (
    settled bigint, stale_tokens bigint[], stale_ns int[], steps int[], lanes bigint[], seqs bigint[], finished_jobs bigint[]
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare settled_at timestamptz := coalesce(now, clock_timestamp());
begin
return query
with report as materialized (
    select token, n, coalesce(outcome, 'DONE') as outcome, result, started, again_at, spent, ends_item, class, reason
    from unnest(tokens, task_ns, outcomes, results, started, again_ats, spents, ends_items, classes, reasons)
        as r(token, n, outcome, result, started, again_at, spent, ends_item, class, reason)
),
held as materialized (
    select l.token, l.ns, l.job_id, l.step_id, l.lane_id, l.owner_id, l.attempt from forebay.lease l
    where l.token = any(tokens) order by l.token for update
),
task as materialized (  -- a lease, with what its step and job say about it
    select h.*, settled_at as at, s.bit, s.name as step, s.downstream, s.optional, s.pipeline_id,
           s.after_all, case when s.after_all then j.job_steps else j.steps end as mask
    from held h join forebay.step s on s.id = h.step_id join forebay.job j on j.id = h.job_id
),
valid as materialized (
    select r.*, t.job_id, t.step_id, t.lane_id, t.owner_id, t.pipeline_id, t.attempt, t.at, t.bit, t.step, t.mask,
           case when f.done then t.bit else 0 end as adds_done,
           case when not f.dead then 0 when r.ends_item then t.mask & ~t.bit | t.bit else t.bit | t.downstream end as adds_dead,
           case when not f.dead then 'DONE'
                when r.outcome = 'ERROR' then 'ERROR'
                when r.outcome = 'NOT_FOUND' then 'NOT_FOUND'
                else 'SKIPPED' end::forebay.item_status as verdict
    from report r
    join task t on t.token = r.token and t.ns @> r.n
    cross join lateral (
        select d.done, not d.done and r.again_at is null as dead
        from (select r.again_at is null and (
                  r.outcome = 'DONE' or r.ends_item is not true and (r.outcome = 'SKIPPED' or t.optional)) as done) d) f
),
left_over as materialized (
    select t.token, t.ns - range_agg(int4range(v.n, v.n, '[]')) as ns
    from task t join valid v using (token) group by t.token, t.ns
),
ended as (
    delete from forebay.lease l using left_over o where l.token = o.token and isempty(o.ns)
),
shrunk as (
    update forebay.lease l set ns = o.ns from left_over o where l.token = o.token and not isempty(o.ns)
),
logged as (
    insert into forebay.attempt
        (job_id, n, step_id, attempt, outcome, owner_id, worker_id, token, started_at, ended_at, class, reason)
    select job_id, n, step_id, attempt, outcome, owner_id, settle.worker_id, token, to_timestamp(started), at, class, reason from valid
),
delayed as (
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select again_at, step_id, lane_id, job_id, owner_id, n, n, attempt - (not spent)::int
    from valid where again_at > at
),
saved as (
    update forebay.item i set
        done = i.done | v.adds_done,
        dead = i.dead | v.adds_dead,
        verdict = greatest(i.verdict, v.verdict),
        status = case when (i.done | v.adds_done | i.dead | v.adds_dead) & v.mask = v.mask
                      then greatest(i.verdict, v.verdict) else 'PENDING' end,
        result = case when i.result is null or v.result is null then coalesce(v.result, i.result)
                      else i.result || v.result end,
        error = case when v.class is null then i.error
                     else jsonb_build_object('step', v.step, 'class', v.class, 'reason', v.reason, 'attempt', v.attempt) end,
        updated_at = v.at
    from valid v
    where i.job_id = v.job_id and i.n = v.n and i.status = 'PENDING'
    returning i.job_id, i.n, i.status, i.done, i.dead, v.pipeline_id, v.lane_id, v.owner_id, v.step_id, v.bit, v.mask,
              v.adds_done, v.adds_dead, v.at, v.outcome, v.attempt, v.class, v.reason
),
buried as (
    insert into forebay.dead_letter (job_id, n, step_id, owner_id, outcome, attempt, class, reason, at)
    select job_id, n, step_id, owner_id, outcome, attempt, class, reason, at from saved
    where adds_dead <> 0 and outcome = 'ERROR'
    on conflict (job_id, n, step_id) do update set
        outcome = excluded.outcome, attempt = excluded.attempt, class = excluded.class, reason = excluded.reason, at = excluded.at
),
follow as (  -- steps for which this was the last thing they waited for
    select s.job_id, f.id as step_id, s.lane_id, s.owner_id, s.at, 0 as attempt, range_agg(int4range(s.n, s.n, '[]')) as ns
    from saved s join forebay.step f on f.pipeline_id = s.pipeline_id and f.active and f.bit & s.mask <> 0
        and f.needs & s.adds_done <> 0 and f.needs & ~s.done = 0 and f.bit & (s.done | s.dead) = 0
    where s.status = 'PENDING'
    group by s.job_id, f.id, s.lane_id, s.owner_id, s.at
    union all
    select job_id, step_id, lane_id, owner_id, at, attempt - (not spent)::int, int4multirange(int4range(n, n, '[]'))
    from valid where again_at <= at
),
tally as materialized (
    select job_id,
           count(*) filter (where n > 0 and status = 'DONE') as done,
           count(*) filter (where n > 0 and status = 'SKIPPED') as skipped,
           count(*) filter (where n > 0 and status = 'NOT_FOUND') as not_found,
           count(*) filter (where n > 0 and status = 'ERROR') as error,
           count(*) filter (where n > 0 and status <> 'PENDING') as closed,
           max(status) filter (where n = 0 and status <> 'PENDING') as own,
           max(at) as at
    from saved group by job_id
),
counted as (
    update forebay.job j set
        done = j.done + t.done,
        skipped = j.skipped + t.skipped,
        not_found = j.not_found + t.not_found,
        error = j.error + t.error,
        state = forebay.state_after(j, t.done, t.error, t.closed, t.own),
        started_at = coalesce(j.started_at, t.at),
        finished_at = case when forebay.is_over(j, t.closed, t.own) then t.at end,
        updated_at = t.at
    from tally t
    where j.id = t.job_id and (t.closed > 0 or t.own is not null or j.state = 'QUEUED')
    returning j.id, j.owner_id, j.pipeline_id, j.lane_id, j.job_steps, j.finished_at, j.state, t.at,
              t.closed > 0 and j.sealed and j.job_steps <> 0 and j.state <> 'CANCELLED'
              and j.done + j.skipped + j.not_found + j.error = j.total as own_turn
),
own_item as (
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    select id, 0, owner_id, pipeline_id, '{}', at, at from counted where own_turn
    on conflict (job_id, n) do update set
        status = 'PENDING', verdict = 'DONE', done = 0, dead = 0, error = null, updated_at = excluded.updated_at
),
queued as (
    insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select f.step_id, f.lane_id, f.job_id, f.owner_id, lower(r), upper(r) - 1, f.attempt from follow f, unnest(f.ns) r
    union all
    select s.id, c.lane_id, c.id, c.owner_id, 0, 0, 0
    from counted c join forebay.step s on s.pipeline_id = c.pipeline_id and s.active and s.after_all and s.needs = 0
        and s.bit & c.job_steps <> 0
    where c.own_turn
    returning step_id, lane_id, seq
),
woken as materialized (
    select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
)
select (select count(*) from valid),
       array(select r.token from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
             order by r.token, r.n),
       array(select r.n from report r where not exists (select from valid v where v.token = r.token and v.n = r.n)
             order by r.token, r.n),
       array(select w.step_id from woken w),
       array(select w.lane_id from woken w),
       array(select w.seq from woken w),
       array(select id from counted where finished_at is not null)
from (select count(pg_notify('forebay', 'ready ' || w.step_id || ' ' || w.lane_id || ' ' || w.seq))
      from woken w join forebay.lane l on l.id = w.lane_id where l.busy_until <= settled_at) notified;
end $$;

-- The same for long columns as text, which drivers encode several times faster than arrays: numbers separated by commas
-- (started in microseconds), results by the record separator, which JSON cannot contain; empty results are null.
create or replace function forebay.settle_packed(
    worker_id bigint, tokens text, task_ns text, started text, results text, outcomes text[],
    again_ats timestamptz[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null
) returns table (
    settled bigint, stale_tokens bigint[], stale_ns int[], steps int[], lanes bigint[], seqs bigint[], finished_jobs bigint[]
) language plpgsql as $$
begin
return query select * from forebay.settle(
    worker_id, string_to_array(tokens, ',')::bigint[], string_to_array(task_ns, ',')::int[], outcomes::forebay.outcome[],
    string_to_array(results, chr(30), '')::jsonb[],
    (select array_agg(s::float8 / 1e6) from unnest(string_to_array(started, ',')) s),
    again_ats, spents, ends_items, classes, reasons, now);
end $$;
