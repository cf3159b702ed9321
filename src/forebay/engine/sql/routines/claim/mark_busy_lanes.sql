-- Records that workers are processing the backlogs of (steps[i], lanes[i]) for so many seconds, so that submits send no
-- wake-up; with 0 seconds, that they are not. Marks of workers that died are deleted on the way.
create or replace function forebay.mark_busy_lanes(
    steps int[], lanes bigint[], seconds float8, now timestamptz default null
) returns void language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    length interval := make_interval(secs => seconds);
begin
    if seconds > 0 then
        insert into forebay.busy_lane as b (lane_id, step_id, until)
        select m.lane_id, m.step_id, at + length from unnest(lanes, steps) as m(lane_id, step_id) order by 1, 2
        on conflict (lane_id, step_id) do update set until = excluded.until where b.until < excluded.until;
        with locked as (
            select l.id from forebay.lane l where l.id = any(lanes) and l.used_at < clock_timestamp() - interval '10 minutes'
            order by l.id for no key update)
        update forebay.lane l set used_at = clock_timestamp() from locked k where l.id = k.id;
    else
        with ended as (
            select b.lane_id, b.step_id from forebay.busy_lane b
            where (b.lane_id, b.step_id) in (select m.lane_id, m.step_id from unnest(lanes, steps) as m(lane_id, step_id))
               or b.until < at - interval '1 minute'
            for update skip locked)  -- another worker is marking the others again
        delete from forebay.busy_lane b using ended e where b.lane_id = e.lane_id and b.step_id = e.step_id;
    end if;
end $$;
