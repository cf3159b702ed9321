-- The first item of a job that may be open: all items before it have ended.
create or replace function forebay.first_open(job forebay.job) returns int
language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    own_lane bigint := (
        select l.id from forebay.lane l where l.job_id = job.id and l.job_id <> 0 and l.limit_name = '' limit 1);
    first int;
begin
    if own_lane is null or own_lane <> job.lane_id then
        return 1;  -- a small job, in its owner's lane: reading its items is cheaper than searching for its runs
    end if;
    select least(
        (select min(r.first_n) from forebay.ready r
         where r.step_id = any(forebay.steps_of(job)) and r.job_id = job.id
           and r.lane_id = any(array(select l.id from forebay.lane l where l.job_id = job.id))),
        (select min(s.first_n) from forebay.scheduled s where s.job_id = job.id),
        (select min(lower(l.ns)) from forebay.lease l where l.job_id = job.id)) into first;
    return coalesce(greatest(first, 1), job.total + 1);
end $$;
