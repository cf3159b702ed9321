-- Pauses a queue: no task of it is claimed until it is resumed.
create or replace function forebay.pause_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if (forebay.lock_queue(name)).paused then
        return false;
    end if;
    update forebay.queue q set paused = true, updated_at = at where q.name = pause_queue.name;
    perform forebay.tell_queue(name, actor, 'pause_queue', null, at);
    return true;
end $$;
