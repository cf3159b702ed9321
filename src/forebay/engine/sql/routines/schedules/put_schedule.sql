-- Creates or changes a schedule; returns true if it is new. Its next time is kept unless the cron expression or the time zone
-- changes, so that an application can call this at every start. Options that are null keep their value, for callers that do not
-- know them.
create or replace function forebay.put_schedule(
    name text, pipeline text, owner text, cron text, timezone text, input jsonb, priority int, next_at timestamptz,
    overlap boolean default null, jitter_s float8 default null, backfill boolean default null, due_field text default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    known int := (select p.id from forebay.pipeline p where p.name = put_schedule.pipeline);
    of_owner bigint;
    existing forebay.schedule;
begin
    if known is null then
        perform forebay.refuse('FB001', 'pipeline', format(
            'there is no pipeline %L here: start its worker, or run `forebay migrate --pipelines MODULE`', pipeline));
    end if;
    perform forebay.check_nesting(input, 'input');
    of_owner := forebay.owner_id(owner);
    insert into forebay.schedule as s (
        name, pipeline_id, owner_id, cron, timezone, input, priority, next_at, overlap, jitter_s, backfill, due_field)
    values (put_schedule.name, known, of_owner, cron, timezone, input, priority, next_at,
            coalesce(overlap, true), coalesce(jitter_s, 0), coalesce(backfill, false), coalesce(due_field, ''))
    on conflict do nothing;
    if found then
        return true;
    end if;
    select s.* into strict existing from forebay.schedule s where s.name = put_schedule.name for update;
    if existing.owner_id <> of_owner then
        perform forebay.refuse('FB005', 'name', format('schedule %L belongs to another owner', existing.name));
    end if;
    update forebay.schedule s set
        pipeline_id = known, input = put_schedule.input, priority = put_schedule.priority,
        cron = put_schedule.cron, timezone = put_schedule.timezone,
        overlap = coalesce(put_schedule.overlap, s.overlap),
        jitter_s = coalesce(put_schedule.jitter_s, s.jitter_s), backfill = coalesce(put_schedule.backfill, s.backfill),
        due_field = coalesce(put_schedule.due_field, s.due_field),
        next_at = case when (s.cron, s.timezone) = (put_schedule.cron, put_schedule.timezone) then s.next_at
                       else put_schedule.next_at end
    where s.name = existing.name;
    return false;
end $$;
