-- Limits over all workers, in leased slices: a worker asks once for what it needs next, and spends it by itself.
-- Rows are locked in the order (name, key) everywhere.

-- Leases starts of many limits at once. intervals[i] is the time between two starts as the caller has it declared, wants[i]
-- how many it can use, waiters[i] how many of its tasks stand there now. A grant is `granted` starts from starts_at on, one
-- an interval; starts further than reaches[i] seconds away are not leased, and near that edge grants get smaller, so that
-- workers share. Waiters that got none are counted, and told when their turn comes: the first in back_in seconds, the others
-- one interval apart. `at` is the server's time, in epoch seconds as starts_at. No reach is longer than ahead_s. A start is
-- good for slack_s after its time, or for one interval: those of the first half of that are still leased.
create or replace function forebay.take_tokens(
    names text[], keys text[], intervals float8[], wants int[], waiters int[], reaches float8[], ahead_s float8,
    slack_s float8, now timestamptz default null
) returns table (place int, granted int, starts_at float8, back_in float8, at float8)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    asked_at timestamptz := coalesce(now, clock_timestamp());
    ask record;
    line record;
    start timestamptz;
    idle float8;
begin
    for ask in
        select a.* from unnest(names, keys, intervals, wants, waiters, reaches) with ordinality
            as a(name, key, seconds, want, waiters, reach, place)
        order by a.name collate "C", a.key collate "C"
    loop
        loop
            select r.next_at, r.waiting into line from forebay.rate_limit r
            where r.name = ask.name and r.key = ask.key for update;
            exit when found;
            insert into forebay.rate_limit (name, key, next_at) values (ask.name, ask.key, asked_at) on conflict do nothing;
        end loop;
        -- Nobody can have leased more than this ahead at the present rate: the rate was changed, or the clock was set back.
        start := least(line.next_at, asked_at + make_interval(secs => ahead_s + ask.seconds));
        -- Starts that nobody took although tasks were told to come for them: those tasks are gone, paused or cancelled.
        idle := extract(epoch from asked_at - start) - 0.25;
        if idle > 0 and line.waiting > 0 then
            line.waiting := floor(line.waiting * 0.5 ^ least(64, idle / greatest(5, 2 * ask.seconds)));
        end if;
        start := greatest(start, asked_at - make_interval(secs => greatest(slack_s, ask.seconds) / 2));
        starts_at := extract(epoch from start);
        granted := 0;
        if start <= asked_at + make_interval(secs => ask.reach) then
            granted := least(ask.want, greatest(1, floor(
                (ask.reach - extract(epoch from start - asked_at)) / ask.seconds / 2)))::int;
        end if;
        line.waiting := greatest(0, line.waiting - granted);
        -- Rounded up to what a timestamp can hold: rounding must not make starts denser.
        start := start + make_interval(secs => ceil(granted * ask.seconds * 1e6) / 1e6);
        back_in := greatest(0, extract(epoch from start - asked_at)) + line.waiting * ask.seconds;
        update forebay.rate_limit r
        set next_at = start, waiting = least(1000000000, line.waiting::bigint + greatest(0, ask.waiters - granted))
        where r.name = ask.name and r.key = ask.key;
        place := ask.place;
        at := extract(epoch from asked_at);
        return next;
    end loop;
end $$;

-- Leases slots of many limits at once, or renews or returns them: afterwards this worker has `granted` slots for lease_s
-- seconds, at most wants[i] (0: it gives all back) and never more than the others leave of capacities[i]. used[i] are in
-- use, waiters[i] tasks stand there for one, started[i] have got one since the last call and took holds[i] seconds each.
-- `fair` is what to stay below while another worker is short. Every turn_s seconds, one slot should come free for this
-- worker; waiters that cannot stand there for so long should come back in back_in seconds, each step_s after the one before.
create or replace function forebay.lease_slots(
    worker_id bigint, names text[], keys text[], capacities int[], wants int[], used int[], waiters int[],
    started int[], holds float8[], lease_s float8, now timestamptz default null
) returns table (place int, granted int, fair int, turn_s float8, back_in float8, step_s float8)
language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    ask record;
    limited record;
    others record;
begin
    for ask in
        select a.* from unnest(names, keys, capacities, wants, used, waiters, started, holds) with ordinality
            as a(name, key, capacity, want, used, waiters, started, hold, place)
        order by a.name collate "C", a.key collate "C"
    loop
        loop
            select s.waiting, s.hold_s, s.seen_at into limited from forebay.slot_limit s
            where s.name = ask.name and s.key = ask.key for update;
            exit when found;
            insert into forebay.slot_limit (name, key, seen_at) values (ask.name, ask.key, at) on conflict do nothing;
        end loop;
        delete from forebay.slot_lease l where l.name = ask.name and l.key = ask.key and l.expires_at <= at;
        select coalesce(sum(l.slots), 0)::int as slots, count(*)::int as workers,
               coalesce(bool_or(l.wanted > l.slots), false) as short
        into others from forebay.slot_lease l
        where l.name = ask.name and l.key = ask.key and l.worker_id <> lease_slots.worker_id;
        granted := greatest(0, least(ask.want, ask.capacity - others.slots));
        if ask.want > 0 then
            -- A worker that got nothing only says that it is short; it may not come again, so that is soon forgotten.
            insert into forebay.slot_lease (name, key, worker_id, slots, wanted, expires_at)
            values (ask.name, ask.key, lease_slots.worker_id, granted, ask.want,
                    at + make_interval(secs => case when granted > 0 then lease_s else least(lease_s, 2) end))
            on conflict (name, key, worker_id) do update
            set slots = excluded.slots, wanted = excluded.wanted, expires_at = excluded.expires_at;
        else
            delete from forebay.slot_lease l
            where l.name = ask.name and l.key = ask.key and l.worker_id = lease_slots.worker_id;
        end if;
        fair := case when others.short then greatest(1, ask.capacity / (others.workers + 1)) else ask.capacity end;
        limited.waiting := greatest(0, limited.waiting - ask.started);
        if others.slots + granted < ask.capacity then  -- slots to spare: those who wait have gone elsewhere, it seems
            limited.waiting := floor(limited.waiting * 0.5 ^ least(64, extract(epoch from at - limited.seen_at) / 2));
        end if;
        limited.hold_s := coalesce(0.5 * limited.hold_s + 0.5 * ask.hold, limited.hold_s);
        step_s := limited.hold_s / ask.capacity;
        turn_s := step_s * (others.workers + 1);
        back_in := (limited.waiting + 1) * step_s;
        update forebay.slot_limit s
        set waiting = limited.waiting + least(ask.waiters, greatest(0, ask.used + ask.waiters - granted)),
            hold_s = limited.hold_s, seen_at = greatest(limited.seen_at, at)
        where s.name = ask.name and s.key = ask.key;
        place := ask.place;
        return next;
    end loop;
end $$;

-- Forgets keys that nobody has used for `idle`, at most max_rows of each table. Returns how many rows went.
create or replace function forebay.tidy_limits(
    idle interval default '1 hour', max_rows int default 10000, now timestamptz default null
) returns int language plpgsql as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - idle;
    gone int;
    deleted int := 0;
begin
    delete from forebay.rate_limit where ctid = any(array(
        select r.ctid from forebay.rate_limit r where r.next_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    delete from forebay.slot_limit where ctid = any(array(
        select s.ctid from forebay.slot_limit s where s.seen_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    -- Leases last seconds: one that ran out before the horizon belongs to nobody.
    delete from forebay.slot_lease where ctid = any(array(
        select l.ctid from forebay.slot_lease l where l.expires_at < horizon limit max_rows for update skip locked));
    get diagnostics gone = row_count;
    return deleted + gone;
end $$;
