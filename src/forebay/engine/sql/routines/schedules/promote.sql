-- Makes scheduled runs ready when they are due, earliest first. `after` is where the caller stopped last time: nothing earlier
-- is read, so dead rows cost nothing; pass -infinity periodically to find late commits. next_at is when the next run is due
-- (in the past if there is more to move, or a due run is locked).
create or replace function forebay.promote(
    now timestamptz default null, max_rows int default 1000, after timestamptz default '-infinity'
) returns table (moved int, next_at timestamptz, steps int[], lanes bigint[], seqs bigint[])
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    with due as (
        delete from forebay.scheduled where ctid = any(array(
            select s.ctid from forebay.scheduled s
            where s.run_at >= after and s.run_at <= at and s.run_at < 'infinity'
            order by s.run_at, s.seq limit max_rows for update skip locked))
        returning run_at, seq, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select step_id, lane_id, job_id, owner_id, first_n, last_n, attempt from due order by run_at, seq
        returning step_id, lane_id, seq
    ),
    woken as (
        select step_id, lane_id, min(seq) as seq from queued group by step_id, lane_id
    ),
    told as (
        select count(forebay.wake(w.step_id, w.lane_id, w.seq, at)) from woken w
    )
    select (select count(*) from due), array(select w.step_id from woken w), array(select w.lane_id from woken w),
           array(select w.seq from woken w)
    into moved, steps, lanes, seqs from told;
    select s.run_at into next_at from forebay.scheduled s
    where s.run_at >= after and s.run_at < 'infinity' order by s.run_at, s.seq limit 1;
    return next;
end $$;
