-- Running again what has ended, as the owner wishes.

-- The steps that an item can run next when it has done those in the mask.
create or replace function forebay.next_steps(job forebay.job, done bigint) returns setof forebay.step
language sql stable as $$
select s.* from forebay.step s
where s.pipeline_id = job.pipeline_id and s.active and not s.after_all
  and s.bit & job.steps <> 0 and s.bit & next_steps.done = 0 and s.needs & ~next_steps.done = 0
$$;

-- Whether reprocess() is asked to run this item again: it has one of the statuses, and is one of `chosen` if that is given.
create or replace function forebay.is_chosen(i forebay.item, statuses forebay.item_status[], chosen int4multirange)
returns boolean language sql immutable as $$
select i.n > 0 and i.status = any(statuses) and (chosen is null or i.n <@ chosen)
$$;

-- Takes items that are about to run again out of runs and leases: an item that ended early may have left some behind, and
-- they must not run besides. The job's own item goes too; it waits for the others again.
create or replace function forebay.clear_way(job forebay.job, statuses forebay.item_status[], chosen int4multirange)
returns void language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare held bigint[];
begin
    perform from forebay.cut_runs(job, '{[0,0]}');
    with hit as (
        delete from forebay.ready r
        where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id
          and exists (select from forebay.item i where i.job_id = job.id and i.n between r.first_n and r.last_n
                      and forebay.is_chosen(i, statuses, chosen))
        returning r.*
    ),
    left_over as (
        select h.step_id, h.lane_id, h.owner_id, h.attempt, o.ns from hit h cross join lateral (
            select range_agg(int4range(i.n, i.n, '[]')) as ns from forebay.item i
            where i.job_id = job.id and i.n between h.first_n and h.last_n and not forebay.is_chosen(i, statuses, chosen)) o
    )
    insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select o.step_id, o.lane_id, job.id, o.owner_id, lower(r), upper(r) - 1, o.attempt
    from left_over o cross join lateral unnest(o.ns) r;
    delete from forebay.scheduled s  -- always whole: what is scheduled for later than the start is a retry, of one item
    where s.job_id = job.id and s.first_n = s.last_n
      and exists (select from forebay.item i where i.job_id = job.id and i.n = s.first_n and forebay.is_chosen(i, statuses, chosen));
    held := array(select l.token from forebay.lease l where l.job_id = job.id order by l.token for update);
    update forebay.lease l set ns = l.ns - g.gone
    from unnest(held) h(token) join forebay.lease e on e.token = h.token cross join lateral (
        select range_agg(int4range(i.n, i.n, '[]')) as gone from forebay.item i
        where i.job_id = job.id and i.n >= lower(e.ns) and i.n < upper(e.ns) and i.n <@ e.ns
          and (i.n = 0 or forebay.is_chosen(i, statuses, chosen))) g
    where l.token = e.token and g.gone is not null;
    delete from forebay.lease l where l.token = any(held) and isempty(l.ns);
end $$;

-- Runs items that have ended again, and returns how many: those in one of the statuses, all or only `ns`. An item that is
-- DONE starts from nothing; any other keeps the steps that are done and what they returned, unless it is to restart. Without
-- reset_attempts, each step that runs again runs once. Items for which there is nothing to run are left as they are.
create or replace function forebay.reprocess(
    job_id bigint, statuses text[] default '{ERROR,NOT_FOUND}', ns int[] default null, reset_attempts boolean default true,
    actor text default current_user, now timestamptz default null, restart boolean default false
) returns int language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    chosen int4multirange;
    wanted forebay.item_status[];
    reopened int;
begin
    if coalesce(cardinality(statuses), 0) = 0 or not statuses <@ '{DONE,SKIPPED,NOT_FOUND,ERROR}' then
        perform forebay.refuse('FB002', 'statuses', 'must be of DONE, SKIPPED, NOT_FOUND and ERROR');
    end if;
    wanted := statuses;
    if ns is not null then
        select coalesce(range_agg(int4range(n, n, '[]')), '{}') into chosen from unnest(ns) n;
    end if;
    job := forebay.settle_down(job, at);
    if not exists (select from forebay.item i where i.job_id = job.id and forebay.is_chosen(i, wanted, chosen)
                   and exists (select from forebay.next_steps(job, case when i.status = 'DONE' or restart then 0 else i.done end))) then
        reopened := forebay.reopen_own(job, wanted, chosen, reset_attempts, at);
        if reopened = 0 then
            return 0;
        end if;
    else
        perform forebay.clear_way(job, wanted, chosen);
        reopened := forebay.reopen(job, wanted, chosen, reset_attempts, restart, at);
    end if;
    if job.state <> 'PAUSED' then
        perform forebay.wake_job(job, at);
    end if;
    perform forebay.note(actor, 'reprocess', job.owner_id, job.id, null, jsonb_build_object(
        'items', reopened, 'statuses', statuses, 'chosen', cardinality(ns), 'reset_attempts', reset_attempts, 'restart', restart), at);
    return reopened;
end $$;

-- Makes ended items open and ready again, with the job's counters and state; returns how many. A part of reprocess().
-- Without nested loops: with statistics from before a large job came, they would join each item with each.
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
    plan as materialized (  -- for each set of steps that are done: those to run next
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
        steps = job.steps, job_steps = job.job_steps, finished_at = null, pace = null, last_error = null, updated_at = at
    from tally t where j.id = job.id
    returning t.opened into reopened;
    return reopened;
end $$;

-- Runs again what failed after all items had ended, when none of the items is to run again: they would bring it with them.
create or replace function forebay.reopen_own(
    job forebay.job, statuses forebay.item_status[], chosen int4multirange, reset_attempts boolean, at timestamptz
) returns int language plpgsql as $$
#variable_conflict use_column
declare kept bigint;
begin
    if job.finished_at is null or chosen is not null and not chosen @> 0 then
        return 0;
    end if;
    update forebay.item i set
        status = 'PENDING', verdict = 'DONE', dead = 0, done = case when i.status = 'DONE' then 0 else i.done end,
        error = null, progress = null, updated_at = at
    where i.job_id = job.id and i.n = 0 and i.status = any(statuses) and i.status <> 'DONE'
    returning i.done into kept;
    if kept is null then
        return 0;
    end if;
    -- What it left behind when it ended early must not run, or settle, beside its new steps.
    perform from forebay.cut_runs(job, '{[0,0]}');
    perform forebay.cut_leases(job.id, '{[0,0]}');
    delete from forebay.dead_letter d where d.job_id = job.id and d.n = 0;
    insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select s.id, forebay.lane_of(job.id), job.id, job.owner_id, 0, 0,
           case when reset_attempts then 0 else s.max_attempts - 1 end
    from forebay.step s
    where s.pipeline_id = job.pipeline_id and s.active and s.after_all and s.bit & job.job_steps <> 0
      and s.bit & kept = 0 and s.needs & ~kept = 0;
    update forebay.job j set state = 'RUNNING', steps = job.steps, job_steps = job.job_steps, finished_at = null,
                             pace = null, last_error = null, updated_at = at
    where j.id = job.id;
    return 1;
end $$;

-- The job as reprocess() needs it: a cancelled one has ended for good, and one that has ended goes by its pipeline's
-- present steps, since there is nothing half done in it.
create or replace function forebay.settle_down(job forebay.job, at timestamptz) returns forebay.job
language plpgsql as $$
begin
    while job.state = 'CANCELLED' and job.finished_at is null loop
        if coalesce(forebay.end_open_items(job, 100000, at), 0) = 0 and job.reaped = -1 then
            perform forebay.refuse('FB005', 'job_id', format(
                'job %s is still being cancelled: workers have to let go of some of its items first', job.id));
        end if;
        select j.* into job from forebay.job j where j.id = job.id;
    end loop;
    if job.finished_at is not null then
        select p.steps, p.job_steps into job.steps, job.job_steps from forebay.pipeline p where p.id = job.pipeline_id;
    end if;
    return job;
end $$;
