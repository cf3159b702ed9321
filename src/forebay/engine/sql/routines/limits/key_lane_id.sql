-- The lane in which the tasks of a lane wait for one key of a limit; created when it is needed first. It is locked, so that
-- tidy_key_lanes() does not delete it before the caller's run is committed.
create or replace function forebay.key_lane_id(home_id bigint, limit_name text, limit_key text) returns bigint
language plpgsql as $$
declare
    home forebay.lane;
    found_id bigint;
begin
    -- Locked: pause_lanes() must not miss a new lane.
    select l.* into home from forebay.lane l where l.id = home_id for share;
    loop
        select l.id into found_id from forebay.lane l
        where l.owner_id = home.owner_id and l.job_id = home.job_id and l.priority = home.priority
          and l.limit_name = key_lane_id.limit_name and l.limit_key = key_lane_id.limit_key
        for key share;
        exit when found_id is not null or home.id is null;
        insert into forebay.lane (owner_id, job_id, priority, paused, limit_name, limit_key)
        values (home.owner_id, home.job_id, home.priority, home.paused, limit_name, limit_key) on conflict do nothing;
    end loop;
    return found_id;
end $$;
