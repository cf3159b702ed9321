-- What people do to work: pause, resume, cancel, reprocess; per job, per queue, per item. Each change leaves an audit row;
-- asking for what is already so changes nothing and answers false.
-- Verbs on one job take turns (an advisory lock); rows are then locked in the order of claim() and settle():
-- runs, leases by token, items, the job.

create or replace function forebay.note(
    actor text, action text, owner_id bigint, job_id bigint, n int, detail jsonb, at timestamptz
) returns void language sql as $$
insert into forebay.audit (at, actor, action, owner_id, job_id, n, detail) values (at, actor, action, owner_id, job_id, n, detail)
$$;

-- The job, with no other verb on it until the transaction ends.
create or replace function forebay.lock_job(job_id bigint) returns forebay.job
language plpgsql as $$
declare job forebay.job;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.job', lock_job.job_id));
    select j.* into job from forebay.job j where j.id = lock_job.job_id;
    if job.id is null then
        perform forebay.refuse('FB004', 'job_id', format('there is no job %s', lock_job.job_id));
    end if;
    return job;
end $$;

-- All the lanes that runs of a job may be in: its own, and the one of its owner.
create or replace function forebay.lanes_of(job forebay.job) returns bigint[] language sql stable as $$
select array(select l.id from forebay.lane l where l.owner_id = job.owner_id and l.job_id in (0, job.id) union select job.lane_id)
$$;

create or replace function forebay.steps_of(job forebay.job) returns int[] language sql stable as $$
select array(select s.id from forebay.step s where s.pipeline_id = job.pipeline_id)
$$;

-- The lane for new runs of a job, made again if it was tidied away. Null when there is no such job.
create or replace function forebay.lane_of(job_id bigint) returns bigint language plpgsql as $$
declare
    job forebay.job;
    found_id bigint;
begin
    select j.* into job from forebay.job j where j.id = lane_of.job_id;
    if job.id is null or exists (select from forebay.lane l where l.id = job.lane_id) then
        return job.lane_id;
    end if;
    found_id := forebay.lane_id(
        job.owner_id, case when job.total > 1000 or not job.sealed or job.state = 'PAUSED' then job.id else 0 end, job.priority);
    if job.state = 'PAUSED' then
        update forebay.lane l set paused = true where l.id = found_id;
    end if;
    update forebay.job j set lane_id = found_id where j.id = job.id;
    return found_id;
end $$;

-- Deletes all runs of a job that nobody has claimed.
create or replace function forebay.drop_runs(job forebay.job) returns void
language plpgsql set enable_seqscan = off as $$
begin
    delete from forebay.ready r
    where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id;
    delete from forebay.scheduled s where s.job_id = job.id;
end $$;

-- Cuts items out of the runs that nobody has claimed, and returns what was cut. Of what is left of a run, the first piece
-- keeps its place; the others queue up again.
create or replace function forebay.cut_runs(job forebay.job, gone int4multirange)
returns table (step_id int, lane_id bigint, attempt smallint, run_at timestamptz, first_n int, last_n int)
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
begin
return query
with due as (
    delete from forebay.ready r
    where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id
      and gone && int4range(r.first_n, r.last_n, '[]')
    returning r.*, int4multirange(int4range(r.first_n, r.last_n, '[]')) as ns
),
due_left as (
    insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, attempt, first_n, last_n)
    select d.step_id, d.lane_id,
           case when row_number() over (partition by d.seq order by r) = 1 then d.seq else nextval('forebay.seq') end,
           d.job_id, d.owner_id, d.attempt, lower(r), upper(r) - 1
    from due d cross join lateral unnest(d.ns - gone) r
),
later as (
    delete from forebay.scheduled s
    where s.job_id = job.id and gone && int4range(s.first_n, s.last_n, '[]')
    returning s.*, int4multirange(int4range(s.first_n, s.last_n, '[]')) as ns
),
later_left as (
    insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, attempt, first_n, last_n)
    select l.run_at, l.step_id, l.lane_id, l.job_id, l.owner_id, l.attempt, lower(r), upper(r) - 1
    from later l cross join lateral unnest(l.ns - gone) r
)
select d.step_id, d.lane_id, d.attempt, null::timestamptz, lower(r), upper(r) - 1
from due d cross join lateral unnest(d.ns * gone) r
union all
select l.step_id, l.lane_id, l.attempt, l.run_at, lower(r), upper(r) - 1
from later l cross join lateral unnest(l.ns * gone) r;
end $$;

-- Takes items out of leases: what their workers report about them from now on is stale.
create or replace function forebay.cut_leases(job_id bigint, gone int4multirange) returns void language plpgsql as $$
declare touched bigint[];
begin
    touched := array(select l.token from forebay.lease l where l.job_id = cut_leases.job_id and l.ns && gone
                     order by l.token for update);
    update forebay.lease l set ns = l.ns - gone where l.token = any(touched);
    delete from forebay.lease l where l.token = any(touched) and isempty(l.ns);
end $$;

-- Pauses a job: nobody claims from its lane, and claims that meet its runs elsewhere put them there. Running tasks end.
create or replace function forebay.pause(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    own_lane bigint;
begin
    select j.* into job from forebay.job j where j.id = job.id for no key update;
    if job.state = 'PAUSED' then
        return false;
    elsif job.state not in ('QUEUED', 'RUNNING') then
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: only one that has not ended can be paused', job.id, job.state));
    end if;
    own_lane := forebay.lane_id(job.owner_id, job.id, job.priority);
    update forebay.lane l set paused = true where l.id = own_lane;
    update forebay.job j set state = 'PAUSED', lane_id = own_lane, updated_at = at where j.id = job.id;
    perform forebay.note(actor, 'pause', job.owner_id, job.id, null, null, at);
    return true;
end $$;

-- Wakes workers for all that a job has ready.
create or replace function forebay.wake_job(job forebay.job, at timestamptz) returns void
language plpgsql set enable_seqscan = off as $$
begin
    update forebay.lane l set paused = false, busy_until = '-infinity' where l.job_id = job.id;
    perform forebay.wake(s.id, l.id, r.seq, at)
    from unnest(forebay.steps_of(job)) s(id) cross join unnest(forebay.lanes_of(job)) l(id)
    cross join lateral (
        select r.seq from forebay.ready r where r.step_id = s.id and r.lane_id = l.id order by r.seq limit 1) r;
end $$;

create or replace function forebay.resume(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    select j.* into job from forebay.job j where j.id = job.id for no key update;
    if job.state in ('QUEUED', 'RUNNING') then
        return false;
    elsif job.state <> 'PAUSED' then
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: only a paused job can be resumed', job.id, job.state));
    end if;
    -- What has run while it was paused counts, too.
    job.started_at := coalesce(job.started_at, (select a.started_at from forebay.attempt a where a.job_id = job.id limit 1),
                               (select l.claimed_at from forebay.lease l where l.job_id = job.id limit 1));
    update forebay.job j set state = case when job.started_at is null then 'QUEUED' else 'RUNNING' end::forebay.job_state,
                             started_at = job.started_at, updated_at = at
    where j.id = job.id;
    perform forebay.wake_job(job, at);
    perform forebay.note(actor, 'resume', job.owner_id, job.id, null, null, at);
    return true;
end $$;

-- Ends up to max_items open items of a job that is being cancelled, those that no worker has, and closes the job when
-- nothing is open any more. Returns how many; 0 means that the rest is in workers' hands. Each call goes on where the last
-- one stopped, and starts over at the end: a task that a worker gave back may be anywhere.
create or replace function forebay.end_open_items(job forebay.job, max_items int, at timestamptz) returns int
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    held int4multirange := (select range_agg(r) from forebay.lease l cross join lateral unnest(l.ns) r where l.job_id = job.id);
    ended int;
begin
    with open as materialized (
        select i.n from forebay.item i
        where i.job_id = job.id and i.n > job.reaped and i.status = 'PENDING' and (held is null or not held @> i.n)
        order by i.job_id, i.n limit max_items for no key update skip locked
    ),
    closed as (
        update forebay.item i set
            status = greatest(i.verdict, 'SKIPPED'),
            verdict = greatest(i.verdict, 'SKIPPED'),
            dead = i.dead | (case when i.n = 0 then job.job_steps else job.steps end & ~i.done),
            error = case when i.verdict > 'SKIPPED' then i.error
                         else '{"class": "cancelled", "reason": "the job was cancelled"}' end,
            updated_at = at
        from open o where i.job_id = job.id and i.n = o.n
        returning i.n, i.status
    ),
    tally as (
        select count(*) as ended, max(n) as last_n,
               count(*) filter (where n > 0) as closed,
               count(*) filter (where n > 0 and status = 'SKIPPED') as skipped,
               count(*) filter (where n > 0 and status = 'NOT_FOUND') as not_found,
               count(*) filter (where n > 0 and status = 'ERROR') as error
        from closed
    )
    update forebay.job j set
        state = 'CANCELLED',
        sealed = true,
        skipped = j.skipped + t.skipped,
        not_found = j.not_found + t.not_found,
        error = j.error + t.error,
        reaped = case when t.ended < max_items then -1 else t.last_n end,
        finished_at = case when j.done + j.skipped + j.not_found + j.error + t.closed >= j.total
                            and (held is null or not held @> 0) then at end,
        updated_at = at
    from tally t where j.id = job.id and j.finished_at is null
    returning t.ended into ended;
    return ended;
end $$;

-- Cancels a job: nothing of it starts any more, workers are told to give up what they run, open items become SKIPPED.
-- The first 10,000 do so here, the rest in reap_cancelled(). The job ends when the last of its running tasks has ended.
create or replace function forebay.cancel(job_id bigint, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    if job.state = 'CANCELLED' then
        return false;
    end if;
    if job.finished_at is null then
        perform forebay.drop_runs(job);
        perform from forebay.lease l where l.job_id = job.id order by l.token for update;
        update forebay.lease l set cancelled = true where l.job_id = job.id;
        job.reaped := -1;
    end if;
    if job.finished_at is not null or forebay.end_open_items(job, 10000, at) is null then
        select j.* into job from forebay.job j where j.id = job.id;  -- it may have ended just now
        perform forebay.refuse('FB005', 'job_id', format('job %s is %s: it has ended already', job.id, job.state));
    end if;
    -- Claims drop what slips into its lane yet, but only from a lane that is not paused.
    update forebay.lane l set paused = false where l.job_id = job.id;
    perform pg_notify('forebay', 'cancel ' || job.id);
    perform forebay.note(actor, 'cancel', job.owner_id, job.id, null, null, at);
    return true;
end $$;

-- Goes on with what cancel() began, max_items at most. Returns how many items it ended: repeat until 0.
create or replace function forebay.reap_cancelled(now timestamptz default null, max_items int default 10000)
returns int language plpgsql set enable_seqscan = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    cancelling forebay.job;
    ended int := 0;
begin
    for cancelling in
        select j.* from forebay.job j where j.state = 'CANCELLED' and j.finished_at is null order by j.id
    loop
        exit when ended >= max_items;
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', cancelling.id));
        select j.* into cancelling from forebay.job j
        where j.id = cancelling.id and j.state = 'CANCELLED' and j.finished_at is null;
        continue when not found;
        delete from forebay.scheduled s where s.job_id = cancelling.id;
        perform forebay.flag_leases(cancelling.id);
        -- While all that is open is in workers' hands there is nothing to look for.
        if cancelling.total - cancelling.done - cancelling.skipped - cancelling.not_found - cancelling.error > (
            select coalesce(sum(upper(r) - lower(r)), 0) from forebay.lease l cross join lateral unnest(l.ns) r
            where l.job_id = cancelling.id)
            or exists (select from forebay.item i where i.job_id = cancelling.id and i.n = 0 and i.status = 'PENDING')
        then
            ended := ended + coalesce(forebay.end_open_items(cancelling, max_items - ended, at), 0);
        end if;
    end loop;
    return ended;
end $$;

-- Flags leases that were claimed while their job was being cancelled, and tells their workers.
create or replace function forebay.flag_leases(job_id bigint) returns void language plpgsql as $$
begin
    update forebay.lease l set cancelled = true where l.token = any(array(
        select u.token from forebay.lease u where u.job_id = flag_leases.job_id and not u.cancelled
        order by u.token for update skip locked));
    if found then
        perform pg_notify('forebay', 'cancel ' || job_id);
    end if;
end $$;

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
-- DONE starts from nothing; any other keeps the steps that are done and what they returned. Without reset_attempts, each
-- step that runs again runs once. Items for which there is nothing to run are left as they are.
create or replace function forebay.reprocess(
    job_id bigint, statuses text[] default '{ERROR,NOT_FOUND}', ns int[] default null, reset_attempts boolean default true,
    actor text default current_user, now timestamptz default null
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
                   and exists (select from forebay.next_steps(job, case when i.status = 'DONE' then 0 else i.done end))) then
        reopened := forebay.reopen_own(job, wanted, chosen, reset_attempts, at);
        if reopened = 0 then
            return 0;
        end if;
    else
        perform forebay.clear_way(job, wanted, chosen);
        reopened := forebay.reopen(job, wanted, chosen, reset_attempts, at);
    end if;
    if job.state <> 'PAUSED' then
        perform forebay.wake_job(job, at);
    end if;
    perform forebay.note(actor, 'reprocess', job.owner_id, job.id, null, jsonb_build_object(
        'items', reopened, 'statuses', statuses, 'chosen', cardinality(ns), 'reset_attempts', reset_attempts), at);
    return reopened;
end $$;

-- Makes ended items open and ready again, with the job's counters and state; returns how many. A part of reprocess().
create or replace function forebay.reopen(
    job forebay.job, statuses forebay.item_status[], chosen int4multirange, reset_attempts boolean, at timestamptz
) returns int language plpgsql as $$
#variable_conflict use_column
declare
    lane bigint := forebay.lane_of(job.id);
    reopened int;
begin
    with ended as materialized (
        select i.n, i.status, case when i.status = 'DONE' then 0 else i.done end as done
        from forebay.item i where i.job_id = job.id and forebay.is_chosen(i, statuses, chosen)
    ),
    plan as materialized (  -- for each set of steps that are done: those to run next
        select d.done, s.id as step_id, case when reset_attempts then 0 else s.max_attempts - 1 end as attempt
        from (select distinct done from ended) d cross join lateral forebay.next_steps(job, d.done) s
    ),
    opened as (
        update forebay.item i set
            status = 'PENDING', verdict = 'DONE', dead = 0, done = e.done, error = null, progress = null,
            result = case when e.status = 'DONE' then null else i.result end, updated_at = at
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
        delete from forebay.dead_letter d using opened o where d.job_id = job.id and d.n = o.n
    ),
    tally as (
        select count(*) as opened,
               count(*) filter (where status = 'DONE') as done,
               count(*) filter (where status = 'SKIPPED') as skipped,
               count(*) filter (where status = 'NOT_FOUND') as not_found,
               count(*) filter (where status = 'ERROR') as error
        from opened
    )
    update forebay.job j set
        done = j.done - t.done, skipped = j.skipped - t.skipped, not_found = j.not_found - t.not_found, error = j.error - t.error,
        state = case when j.state = 'PAUSED' then 'PAUSED' else 'RUNNING' end::forebay.job_state,
        steps = job.steps, job_steps = job.job_steps, finished_at = null, updated_at = at
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
    update forebay.job j set state = 'RUNNING', steps = job.steps, job_steps = job.job_steps, finished_at = null, updated_at = at
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

-- The item, which must be open.
create or replace function forebay.open_item(job_id bigint, n int) returns forebay.item language plpgsql as $$
declare item forebay.item;
begin
    select i.* into item from forebay.item i where i.job_id = open_item.job_id and i.n = open_item.n;
    if item.job_id is null then
        perform forebay.refuse('FB004', 'n', format('job %s has no item %s', job_id, n));
    elsif item.status <> 'PENDING' then
        perform forebay.refuse('FB005', 'n', format('item %s of job %s has ended: it is %s', n, job_id, item.status));
    end if;
    return item;
end $$;

-- Holds one item back: its runs wait for ever, until resume_item().
create or replace function forebay.pause_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    held record;
begin
    perform forebay.open_item(job_id, n);
    with cut as (
        select c.* from forebay.cut_runs(job, int4multirange(int4range(pause_item.n, pause_item.n, '[]'))) c
    ),
    set_aside as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select 'infinity', c.step_id, c.lane_id, job.id, job.owner_id, c.first_n, c.last_n, c.attempt from cut c
    )
    select count(*) as runs, count(*) filter (where c.run_at is distinct from 'infinity') as fresh into held from cut c;
    if held.runs = 0 then
        perform forebay.refuse('FB005', 'n', format(
            'a worker has item %s of job %s at this moment: wait for it, or cancel the item', n, job_id));
    elsif held.fresh > 0 then
        perform forebay.note(actor, 'pause_item', job.owner_id, job.id, n, null, at);
    end if;
    return held.fresh > 0;
end $$;

create or replace function forebay.resume_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    resumed bigint;
begin
    perform forebay.open_item(job_id, n);
    with held as (
        delete from forebay.scheduled s
        where s.job_id = job.id and s.run_at = 'infinity' and resume_item.n between s.first_n and s.last_n
        returning s.*
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select h.step_id, h.lane_id, h.job_id, h.owner_id, h.first_n, h.last_n, h.attempt from held h
        returning step_id, lane_id, seq
    )
    select count(*) + 0 * count(forebay.wake(q.step_id, q.lane_id, q.seq, at)) into resumed from queued q;
    if resumed > 0 then
        perform forebay.note(actor, 'resume_item', job.owner_id, job.id, n, null, at);
    end if;
    return resumed > 0;
end $$;

-- Ends one item as SKIPPED. When a worker has it, what that worker reports later is stale.
create or replace function forebay.cancel_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    it int4multirange := int4multirange(int4range(n, n, '[]'));
    held forebay.lease;
begin
    if exists (select from forebay.item i where i.job_id = job.id and i.n = cancel_item.n
               and i.status = 'SKIPPED' and i.error ->> 'class' = 'cancelled') then
        return false;
    end if;
    perform forebay.open_item(job_id, n);
    perform from forebay.cut_runs(job, it);
    select l.* into held from forebay.lease l where l.job_id = job.id and l.ns @> cancel_item.n order by l.token limit 1 for update;
    if held.token is null then  -- settle() knows all that follows from an item's end; it wants a lease to go by
        insert into forebay.lease (step_id, lane_id, job_id, owner_id, worker_id, attempt, claimed_at, expires_at, ns)
        select s.id, job.lane_id, job.id, job.owner_id, 0, 0, at, at, it
        from forebay.step s join forebay.item i on i.job_id = job.id and i.n = cancel_item.n
        where s.pipeline_id = job.pipeline_id and s.bit & ~i.done <> 0
          and s.bit & case when i.n = 0 then job.job_steps else job.steps end <> 0
        order by s.bit limit 1
        returning * into held;
    end if;
    perform forebay.settle(
        held.worker_id, array[held.token], array[n], '{CANCELLED}', '{}', array[extract(epoch from held.claimed_at)::float8],
        '{}', '{}', '{true}', '{cancelled}', array['cancelled by ' || actor], at);
    perform forebay.cut_leases(job.id, it);
    perform forebay.note(actor, 'cancel_item', job.owner_id, job.id, n, null, at);
    return true;
end $$;

-- The queue of that name, locked.
create or replace function forebay.lock_queue(name text) returns forebay.queue language plpgsql as $$
declare queue forebay.queue;
begin
    select q.* into queue from forebay.queue q where q.name = lock_queue.name for update;
    if queue.name is null then
        perform forebay.refuse('FB004', 'queue', format('there is no queue %L', lock_queue.name));
    end if;
    return queue;
end $$;

-- Says that a queue has changed: to the audit, and to the workers.
create or replace function forebay.tell_queue(name text, actor text, action text, detail jsonb, at timestamptz)
returns void language plpgsql as $$
begin
    perform forebay.note(actor, action, null, null, null, jsonb_build_object('queue', name) || coalesce(detail, '{}'), at);
    perform pg_notify('forebay', 'queue ' || name);
end $$;

create or replace function forebay.pause_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if (forebay.lock_queue(name)).paused then
        return false;
    end if;
    update forebay.queue q set paused = true, updated_at = at where q.name = pause_queue.name;
    perform forebay.tell_queue(name, actor, 'pause_queue', null, at);
    return true;
end $$;

create or replace function forebay.resume_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if not (forebay.lock_queue(name)).paused then
        return false;
    end if;
    update forebay.queue q set paused = false, updated_at = at where q.name = resume_queue.name;
    perform forebay.tell_queue(name, actor, 'resume_queue', null, at);
    return true;
end $$;

-- Parks a queue whose configuration is wrong until it is unparked; at probe_at one task may try. Only a new reason is news.
create or replace function forebay.park_queue(
    name text, reason text, probe_at timestamptz, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    queue forebay.queue := forebay.lock_queue(name);
begin
    if reason is null then
        perform forebay.refuse('FB002', 'reason', 'must say what is wrong');
    end if;
    update forebay.queue q set parked = reason, probe_at = park_queue.probe_at, updated_at = at where q.name = park_queue.name;
    if queue.parked = reason then
        return false;
    end if;
    perform forebay.tell_queue(name, actor, 'park_queue', jsonb_build_object('reason', reason), at);
    return true;
end $$;

create or replace function forebay.unpark_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if (forebay.lock_queue(name)).parked is null then
        return false;
    end if;
    update forebay.queue q set parked = null, probe_at = null, updated_at = at where q.name = unpark_queue.name;
    perform forebay.tell_queue(name, actor, 'unpark_queue', null, at);
    return true;
end $$;

-- Sets an owner's share of the workers: twice the weight gets twice the tasks, where both have some. Makes a new owner.
create or replace function forebay.set_owner_weight(
    owner text, weight float8, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    id_of_owner bigint;
begin
    if weight is null or weight not between 0.01 and 1000 then
        perform forebay.refuse('FB002', 'weight', 'must be between 0.01 and 1000');
    end if;
    id_of_owner := forebay.owner_id(owner);
    update forebay.owner o set weight = set_owner_weight.weight
    where o.id = id_of_owner and o.weight <> set_owner_weight.weight::real;
    if not found then
        return false;
    end if;
    perform forebay.note(actor, 'set_owner_weight', id_of_owner, null, null, jsonb_build_object('weight', weight), at);
    return true;
end $$;
