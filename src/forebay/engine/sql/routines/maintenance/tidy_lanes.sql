-- Deletes the lanes of jobs that have been over for `idle`, and empty lanes of keys. Lanes of owners stay: they are few,
-- and a submit that has looked one up must find it when it commits. The lock of the job keeps a reprocess from starting meanwhile.
create or replace function forebay.tidy_lanes(now timestamptz default null, idle interval default '1 hour')
returns int language plpgsql set enable_seqscan = off set jit = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - idle;
    candidate record;
    deleted int := 0;
begin
    for candidate in
        select l.id, l.job_id from forebay.lane l left join forebay.job j on j.id = l.job_id
        where l.job_id <> 0 and l.used_at < horizon and (j.id is null or j.finished_at < horizon)
        order by l.job_id limit 1000
    loop
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', candidate.job_id));
        delete from forebay.lane l
        where l.id = candidate.id
          and not exists (select from forebay.job j where j.id = candidate.job_id
                          and (j.finished_at is null or j.finished_at >= horizon))
          and not exists (select from forebay.step s cross join lateral (
              select from forebay.ready r where r.step_id = s.id and r.lane_id = l.id limit 1) r)
          and not exists (select from forebay.scheduled s where s.job_id = l.job_id and s.lane_id = l.id)
          and not exists (select from forebay.lease e where e.job_id = l.job_id and e.lane_id = l.id);
        if found then
            deleted := deleted + 1;
        end if;
    end loop;
    return deleted + forebay.tidy_key_lanes(horizon);
end $$;
