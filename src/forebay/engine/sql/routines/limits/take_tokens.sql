-- Leases starts of many limits at once. intervals[i] is the caller's declared time between two starts, wants[i] the number of
-- starts that it can use, waiters[i] the number of its waiting tasks. A grant is `granted` starts from starts_at on, one per
-- interval. Starts more than reaches[i] seconds away are not leased, and near that limit grants get smaller, so that workers
-- share. Waiters that got none are counted and get a time to retry: the first in back_in seconds, the others one interval
-- apart. `at` is the server's time, in epoch seconds like starts_at. No reach is longer than ahead_s. A start is usable for
-- slack_s after its time, or for one interval: starts in the first half of that are still leased.
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
        -- Nobody can have leased further ahead than this at the current rate: the rate was changed, or the clock was set back.
        start := least(line.next_at, asked_at + make_interval(secs => ahead_s + ask.seconds));
        -- Starts that were not taken although tasks were told to retry for them: those tasks are gone, paused or cancelled.
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
        -- Rounded up to the precision of a timestamp: rounding must not reduce the interval.
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
