-- Deletes lanes that have been idle for `idle`: those of owners, and those of jobs that are over.
create or replace function forebay.tidy_lanes(now timestamptz default null, idle interval default '1 hour')
returns int language plpgsql set jit = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - idle;
    candidates bigint[];
    deleted int;
begin
    candidates := array(
        select l.id from forebay.lane l left join forebay.job j on l.job_id <> 0 and j.id = l.job_id
        where l.used_at < horizon
          and case when l.job_id = 0 then not l.paused else j.id is null or j.finished_at < horizon end);
    if candidates = '{}' then
        return 0;  -- avoids reading all scheduled runs
    end if;
    delete from forebay.lane l
    where l.id = any(candidates)
      and not exists (select from forebay.step s cross join lateral (
          select from forebay.ready r where r.step_id = s.id and r.lane_id = l.id limit 1) r)
      and not exists (select from forebay.scheduled s where s.lane_id = l.id)
      and not exists (select from forebay.lease e where e.lane_id = l.id);
    get diagnostics deleted = row_count;
    return deleted;
end $$;
