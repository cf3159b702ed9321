-- For workers of the release before mark_busy_lanes: their lanes get more wake-ups than they need.
create or replace function forebay.mark_busy(lanes bigint[], until timestamptz) returns void language sql as $$
select
$$;
