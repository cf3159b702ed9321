-- Makes a parked queue claimable again.
create or replace function forebay.unpark_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if (forebay.lock_queue(name)).parked is null then
        return false;
    end if;
    update forebay.queue q set parked = null, probe_at = null, updated_at = at where q.name = unpark_queue.name;
    perform forebay.tell_queue(name, actor, 'unpark_queue', null, at);
    return true;
end $$;
