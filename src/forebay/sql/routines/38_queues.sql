-- Queues and owners: pause, resume, park, weigh.

-- The queue of that name, locked.
create or replace function forebay.lock_queue(name text) returns forebay.queue language plpgsql as $$
declare queue forebay.queue;
begin
    select q.* into queue from forebay.queue q where q.name = lock_queue.name for update;
    if queue.name is null then
        perform forebay.refuse('FB004', 'queue', format('there is no queue %L', lock_queue.name));
    end if;
    return queue;
end $$;

-- Says that a queue has changed: to the audit, and to the workers.
create or replace function forebay.tell_queue(name text, actor text, action text, detail jsonb, at timestamptz)
returns void language plpgsql as $$
begin
    perform forebay.note(actor, action, null, null, null, jsonb_build_object('queue', name) || coalesce(detail, '{}'), at);
    perform pg_notify('forebay', 'queue ' || name);
end $$;

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

-- Parks a queue whose configuration is wrong until it is unparked; at probe_at one task may try. Only a new reason is news.
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

-- Sets an owner's share of the workers: twice the weight gets twice the tasks, where both have some. Makes a new owner.
create or replace function forebay.set_owner_weight(
    owner text, weight float8, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    id_of_owner bigint;
begin
    if weight is null or weight not between 0.01 and 1000 then
        perform forebay.refuse('FB002', 'weight', 'must be between 0.01 and 1000');
    end if;
    id_of_owner := forebay.owner_id(owner);
    update forebay.owner o set weight = set_owner_weight.weight
    where o.id = id_of_owner and o.weight <> set_owner_weight.weight::real;
    if not found then
        return false;
    end if;
    perform forebay.note(actor, 'set_owner_weight', id_of_owner, null, null, jsonb_build_object('weight', weight), at);
    return true;
end $$;
