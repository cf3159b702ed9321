-- Gives a signal to waiting tasks and makes them ready; returns how many got it. A task that has timed out, runs, or was
-- reached by another signal at this moment does not get it. A paused item gets it, but stays paused.
create or replace function forebay.wake_waiting(waits forebay.waiting[], payload jsonb, at timestamptz) returns int
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare reached int;
begin
    with found as materialized (
        select w.job_id, w.n, w.bit, w.name, w.key, s.run_at, s.ctid as place
        from unnest(waits) w
        join forebay.scheduled s on s.job_id = w.job_id and s.first_n = w.n and s.last_n = w.n
        join forebay.step p on p.id = s.step_id and p.bit = w.bit
        order by w.job_id, w.n for update of s skip locked
    ),
    given as (
        update forebay.waiting w set payload = coalesce(wake_waiting.payload, w.payload), signalled_at = at
        from found f
        where w.job_id = f.job_id and w.n = f.n and w.bit = f.bit and w.signalled_at is null
          and w.name = f.name and w.key = f.key  -- meanwhile it may wait for another signal
        returning f.place, f.run_at
    ),
    due as (
        delete from forebay.scheduled where ctid = any(array(select g.place from given g where g.run_at < 'infinity'))
        returning step_id, lane_id, job_id, owner_id, first_n, last_n, attempt
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select d.step_id, d.lane_id, d.job_id, d.owner_id, d.first_n, d.last_n, d.attempt from due d
        returning step_id, lane_id, seq
    ),
    told as (
        select count(forebay.wake(q.step_id, q.lane_id, q.seq, at))
        from (select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id) q
    )
    select count(*) into reached from given, told;
    return reached;
end $$;
