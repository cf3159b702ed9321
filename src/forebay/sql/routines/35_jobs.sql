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
                             started_at = job.started_at, pace = null, updated_at = at
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
        -- No join: with statistics from before a large job came, that would be one of each item with each.
        where i.job_id = job.id and i.n = any(array(select o.n from open o))
        returning i.n, i.status
    ),
    tally as (
        select count(*) as ended, max(n) as last_n,
               count(*) filter (where n > 0) as closed,
               count(*) filter (where n > 0 and status = 'SKIPPED') as skipped,
               count(*) filter (where n > 0 and status = 'NOT_FOUND') as not_found,
               count(*) filter (where n > 0 and status = 'ERROR') as error
        from closed
    ),
    counted as (
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
        returning t.ended, t.closed, t.skipped, t.not_found, t.error
    ),
    tallied as (
        insert into forebay.tally (owner_id, pipeline_id, skipped, not_found, error)
        select job.owner_id, job.pipeline_id, c.skipped, c.not_found, c.error from counted c where c.closed > 0
    )
    select c.ended into ended from counted c;
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
    perform forebay.cancel_intake(job.id, actor, at);
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
