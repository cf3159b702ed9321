-- Assigns ready runs whose lane is missing to a lane again: earlier releases deleted idle lanes while runs were being written.
-- Scheduled runs without a lane get one when they are ready: looking for them would read the whole table. Returns the number
-- of runs.
create or replace function forebay.adopt_orphans(now timestamptz default null) returns int
language plpgsql set jit = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    orphan record;
    moved int;
    adopted int := 0;
begin
    perform forebay.drop_dead_runs();
    for orphan in
        with lost as materialized (
            select p.step_id, p.lane_id from forebay.ready_lanes() p
            where not exists (select from forebay.lane l where l.id = p.lane_id)
        )
        select r.job_id, p.lane_id, array_agg(distinct p.step_id) as steps
        from lost p cross join lateral (
            select r.job_id from forebay.ready r where r.step_id = p.step_id and r.lane_id = p.lane_id offset 0) r
        group by r.job_id, p.lane_id
        order by 1
    loop
        continue when not exists (select from forebay.job j where j.id = orphan.job_id);
        with home as materialized (select forebay.lane_of(orphan.job_id) as lane_id),
        moved_ready as (
            -- Parts of one run that come from lanes of keys have the same place, so they get new ones.
            update forebay.ready r set lane_id = h.lane_id, seq = nextval('forebay.seq') from home h
            where r.step_id = any(orphan.steps) and r.lane_id = orphan.lane_id and r.job_id = orphan.job_id
            returning r.step_id, r.lane_id, r.seq),
        moved_scheduled as (
            update forebay.scheduled s set lane_id = h.lane_id from home h
            where s.job_id = orphan.job_id and s.lane_id = orphan.lane_id
            returning 1),
        woken as (
            select count(forebay.wake(m.step_id, m.lane_id, m.seq, at))
            from (select step_id, lane_id, min(seq) as seq from moved_ready group by step_id, lane_id) m)
        select (select count(*) from moved_ready) + (select count(*) from moved_scheduled) into moved from woken;
        adopted := adopted + moved;
    end loop;
    return adopted;
end $$;
