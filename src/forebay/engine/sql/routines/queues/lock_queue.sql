-- Locks a queue and returns it.
create or replace function forebay.lock_queue(name text) returns forebay.queue language plpgsql as $$
declare queue forebay.queue;
begin
    select q.* into queue from forebay.queue q where q.name = lock_queue.name for update;
    if queue.name is null then
        perform forebay.refuse('FB004', 'queue', format('there is no queue %L', lock_queue.name));
    end if;
    return queue;
end $$;
