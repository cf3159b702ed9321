-- Makes scheduled runs ready when they are due, earliest first. `after` is where the caller stopped last time: nothing earlier
-- is read, so dead rows cost nothing; pass -infinity periodically to find late commits. next_at is when the next run is due
-- (in the past if there is more to move, or a due run is locked).
-- A retry goes ahead of the newer work of its lane: it gets a place near the first one of its job, which nobody else can get
-- any more. It is not put back by more than 10,000 places, so that claims need not read far below what they have read.
create or replace function forebay.promote(
    now timestamptz default null, max_rows int default 1000, after timestamptz default '-infinity'
) returns table (moved int, next_at timestamptz, steps int[], lanes bigint[], seqs bigint[])
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    with due as materialized (
        delete from forebay.scheduled where ctid = any(array(
            select s.ctid from forebay.scheduled s
            where s.run_at >= after and s.run_at <= at and s.run_at < 'infinity'
            order by s.run_at, s.seq limit max_rows for update skip locked))
        returning run_at, seq, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt
    ),
    ahead as (
        insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, first_n, last_n, attempt)
        select d.step_id, d.lane_id, p.place, d.job_id, d.owner_id, d.first_n, d.last_n, d.attempt
        from due d
        cross join lateral (
            select greatest(j.first_seq, least(j.first_seq + d.first_n - 1, d.seq), d.seq - 10000) as place
            from forebay.job j where j.id = d.job_id and j.first_seq > 0 offset 0) p
        where d.attempt > 0 order by d.step_id, d.lane_id, p.place
        on conflict do nothing
        returning step_id, lane_id, seq, job_id, first_n
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select step_id, lane_id, job_id, owner_id, first_n, last_n, attempt from due
        where ((step_id, job_id, first_n) in (select a.step_id, a.job_id, a.first_n from ahead a)) is not true
        order by run_at, seq
        returning step_id, lane_id, seq
    ),
    woken as (
        select q.step_id, q.lane_id, min(q.seq) as seq
        from (select a.step_id, a.lane_id, a.seq from ahead a union all select * from queued) q group by q.step_id, q.lane_id
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
