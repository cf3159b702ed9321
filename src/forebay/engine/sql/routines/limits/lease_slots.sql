-- Leases, renews or returns slots of many limits at once: afterwards this worker has `granted` slots for lease_s seconds, at
-- most wants[i] (0: return all) and never more than the other workers leave of capacities[i]. used[i] are in use, waiters[i]
-- tasks wait for one, started[i] tasks got one since the last call and used it for holds[i] seconds each. `fair` is the
-- maximum to use while another worker is short. Every turn_s seconds, one slot should become free for this worker; waiters
-- that cannot wait that long should retry in back_in seconds, each step_s after the previous one.
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
            -- A worker that got nothing is recorded as short; it may not call again, so the record expires soon.
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
        if others.slots + granted < ask.capacity then  -- free slots: the former waiters seem to be gone
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
