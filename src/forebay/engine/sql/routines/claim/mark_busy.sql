-- Records that workers are processing the backlogs of these lanes until `until`, so that submits send no wake-up.
create or replace function forebay.mark_busy(lanes bigint[], until timestamptz) returns void language sql as $$
with locked as (select l.id from forebay.lane l where l.id = any(lanes) order by l.id for no key update)
update forebay.lane l set busy_until = until, used_at = clock_timestamp() from locked k where l.id = k.id
$$;
