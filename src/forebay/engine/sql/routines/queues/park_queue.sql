-- Parks a queue whose configuration is wrong until it is unparked; at probe_at one task may try. Only a new reason is announced.
create or replace function forebay.park_queue(
    name text, reason text, probe_at timestamptz, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    queue forebay.queue := forebay.lock_queue(name);
begin
    if reason is null then
        perform forebay.refuse('FB002', 'reason', 'must say what is wrong');
    end if;
    update forebay.queue q set parked = reason, probe_at = park_queue.probe_at, updated_at = at where q.name = park_queue.name;
    if queue.parked = reason then
        return false;
    end if;
    perform forebay.tell_queue(name, actor, 'park_queue', jsonb_build_object('reason', reason), at);
    return true;
end $$;
