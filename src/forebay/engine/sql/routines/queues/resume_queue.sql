-- Resumes a paused queue.
create or replace function forebay.resume_queue(name text, actor text default current_user, now timestamptz default null)
returns boolean language plpgsql as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
    if not (forebay.lock_queue(name)).paused then
        return false;
    end if;
    update forebay.queue q set paused = false, updated_at = at where q.name = resume_queue.name;
    perform forebay.tell_queue(name, actor, 'resume_queue', null, at);
    return true;
end $$;
