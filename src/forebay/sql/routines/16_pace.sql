-- How fast a job goes, and when it ends: the one estimate that the API, the views and the command line show.

-- The pace of a job after `closed` more of its items have ended. A window lasts half a minute; the estimate counts from the
-- beginning of the one before, so that it always rests on the last 30 to 60 seconds. `claimed_at` is when the first of them
-- was begun.
create or replace function forebay.pace_after(j forebay.job, closed bigint, claimed_at timestamptz, at timestamptz)
returns forebay.pace language sql immutable as $$
select case
    when closed = 0 or j.total = 1 then j.pace  -- the pace of one item would be of no use
    when j.pace is null then row(least(claimed_at, at), j.done + j.skipped + j.not_found + j.error, null, null)::forebay.pace
    when at < (j.pace).since + interval '30 seconds' then j.pace
    else row(at, j.done + j.skipped + j.not_found + j.error + closed, (j.pace).since, (j.pace).ended)::forebay.pace
end
$$;

-- Seconds until a running job ends if it goes on as it did lately, and not before the last of its retries that wait is due.
-- Null when nothing is known: no item has ended since it was started, resumed or reprocessed, or one of its items is paused.
-- A job that is down to one item goes by what that item's step tells of its progress.
create or replace function forebay.eta_seconds(j forebay.job, at timestamptz default null) returns float8
language plpgsql stable as $$
declare
    ended int := j.done + j.skipped + j.not_found + j.error;
    moment timestamptz := coalesce(at, clock_timestamp());
    gained int := ended - coalesce((j.pace).earlier_ended, (j.pace).ended);
    elapsed float8 := extract(epoch from moment - coalesce((j.pace).earlier, (j.pace).since));
    due timestamptz;
begin
    if j.state <> 'RUNNING' or not j.sealed or j.finished_at is not null then
        return null;
    elsif j.total = 1 or ended = j.total then
        return (select greatest(0, extract(epoch from (i.progress ->> 'endsAt')::timestamptz - moment))
                from forebay.item i
                where i.job_id = j.id and i.n = case when ended = j.total then 0 else 1 end and i.status = 'PENDING'
                  and i.progress ? 'endsAt');
    end if;
    if gained > 0 then
        -- a sample will do: those that wait are many only where many failed, and these wait about as long as each other
        select max(s.run_at) into due from (select s.run_at from forebay.scheduled s where s.job_id = j.id limit 1000) s;
        if due is distinct from 'infinity' then
            return greatest((j.total - ended) * greatest(elapsed, 0) / gained, extract(epoch from due - moment), 0);
        end if;
    end if;
    return null;
end $$;

-- When something last happened in a job, or a worker that has some of it was last heard of.
create or replace function forebay.heartbeat_at(j forebay.job) returns timestamptz language sql stable as $$
select case when j.finished_at is not null then j.finished_at else greatest(
    j.updated_at,
    (select i.updated_at from forebay.item i where j.total = 1 and i.job_id = j.id and i.n = 1),
    (select max(w.seen_at) from forebay.worker w
     where w.id in (select l.worker_id from forebay.lease l where l.job_id = j.id limit 1000))) end
$$;
