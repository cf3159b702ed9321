-- Estimated seconds until a running job ends at its recent pace, and not before the last of its waiting retries is due.
-- Null if unknown: no item has ended since the job was started, resumed or reprocessed, or one of its items is paused.
-- For a job with one remaining item, the estimate uses the progress that the item's step reports.
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
        -- A sample suffices: there are many waiting retries only where many items failed, and those wait similarly long.
        select max(s.run_at) into due from (select s.run_at from forebay.scheduled s where s.job_id = j.id limit 1000) s;
        if due is distinct from 'infinity' then
            return greatest((j.total - ended) * greatest(elapsed, 0) / gained, extract(epoch from due - moment), 0);
        end if;
    end if;
    return null;
end $$;
