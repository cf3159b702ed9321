-- Makes ended items open and ready again, and updates the job's counters and state; returns their number. Part of reprocess().
-- Without nested loops: with statistics from before the submit of a large job, they would compare each item with each other.
create or replace function forebay.reopen(
    job forebay.job, statuses forebay.item_status[], chosen int4multirange, reset_attempts boolean, restart boolean, at timestamptz
) returns int language plpgsql set enable_nestloop = off as $$
#variable_conflict use_column
declare
    lane bigint := forebay.lane_of(job.id);
    reopened int;
begin
    with ended as materialized (
        select i.n, i.status, case when i.status = 'DONE' or restart then 0 else i.done end as done
        from forebay.item i where i.job_id = job.id and forebay.is_chosen(i, statuses, chosen)
    ),
    plan as materialized (  -- for each set of completed steps: the steps to run next
        select d.done, s.id as step_id, case when reset_attempts then 0 else s.max_attempts - 1 end as attempt
        from (select distinct done from ended) d cross join lateral forebay.next_steps(job, d.done) s
    ),
    opened as (
        update forebay.item i set
            status = 'PENDING', verdict = 'DONE', dead = 0, done = e.done, error = null, progress = null,
            result = case when e.done = 0 then null else i.result end,
            normalized = case when e.done = 0 then null else i.normalized end, updated_at = at
        from ended e
        where i.job_id = job.id and i.n = e.n and i.status = e.status and e.done in (select done from plan)
        returning e.n, e.status, e.done
    ),
    runs as (
        select p.step_id, p.attempt, range_agg(int4range(o.n, o.n, '[]')) as ns
        from opened o join plan p on p.done = o.done group by p.step_id, p.attempt
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select q.step_id, lane, job.id, job.owner_id, f, least(f + 499, upper(r) - 1), q.attempt
        from runs q cross join lateral unnest(q.ns) r cross join lateral generate_series(lower(r), upper(r) - 1, 500) f
        order by q.step_id, f
    ),
    forgiven as (
        delete from forebay.dead_letter d where d.job_id = job.id and d.n = any(array(select o.n from opened o))
    ),
    -- A signal that has come stays: the step gets it now. An item that was DONE begins anew. Children that have failed run
    -- again, but for a restart.
    not_waiting as (
        delete from forebay.waiting w using opened o
        where w.job_id = job.id and w.n = o.n
          and (w.signalled_at is null or o.done = 0 and (o.status = 'DONE' or restart and w.name = 'forebay.map'))
    ),
    tally as (
        select count(*) as opened,
               count(*) filter (where status = 'DONE') as done,
               count(*) filter (where status = 'SKIPPED') as skipped,
               count(*) filter (where status = 'NOT_FOUND') as not_found,
               count(*) filter (where status = 'ERROR') as error
        from opened
    ),
    tallied as (
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select job.owner_id, job.pipeline_id, -t.done, -t.skipped, -t.not_found, -t.error from tally t where t.opened > 0
    )
    update forebay.job j set
        done = j.done - t.done, skipped = j.skipped - t.skipped, not_found = j.not_found - t.not_found, error = j.error - t.error,
        state = case when j.state = 'PAUSED' then 'PAUSED' else 'RUNNING' end::forebay.job_state,
        steps = job.steps, job_steps = job.job_steps, version_id = job.version_id, finished_at = null, pace = null, last_error = null, updated_at = at
    from tally t where j.id = job.id
    returning t.opened into reopened;
    return reopened;
end $$;
