-- Sends a signal to the tasks of an owner that wait for this name and key, in the caller's transaction; returns how many it
-- reached. If none waits, the signal is kept for `keep`: the next task that waits for it gets it at once. At most 10,000 signals of
-- an owner are kept.
create or replace function forebay.signal(
    name text, key text, payload jsonb default null, owner text default 'default', keep interval default '7 days',
    now timestamptz default null
) returns int language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    of_owner bigint;
    waits forebay.waiting[];
    reached int := 0;
begin
    if name is null or length(name) not between 1 and 200 then
        perform forebay.refuse('FB002', 'name', 'must have 1 to 200 characters');
    elsif name ^@ 'forebay.' then
        perform forebay.refuse('FB002', 'name', 'must not begin with "forebay.", which is reserved');
    elsif key is null or length(key) not between 1 and 500 then
        perform forebay.refuse('FB002', 'key', 'must have 1 to 500 characters');
    elsif octet_length(payload::text) > 1048576 then
        perform forebay.refuse('FB003', 'payload', format('has %s bytes; a signal takes at most 1048576', octet_length(payload::text)));
    elsif keep is null or keep not between interval '0' and interval '3653 days' then
        perform forebay.refuse('FB002', 'keep', 'must be between 0 and ten years');
    end if;
    perform forebay.check_nesting(payload, 'payload');
    of_owner := forebay.owner_id(owner);
    waits := array(
        select w from forebay.waiting w
        where w.owner_id = of_owner and w.name = signal.name and w.key = signal.key and w.signalled_at is null
        order by w.job_id, w.n, w.bit);
    if cardinality(waits) > 0 then
        reached := forebay.wake_waiting(waits, payload, at);
    end if;
    if reached = 0 and keep > interval '0' then
        if exists (select from forebay.kept_signal k where k.owner_id = of_owner offset 9999) then
            perform forebay.refuse('FB005', 'owner', 'has 10000 kept signals, which is the maximum: send the signal when a task waits '
                                   'for it, or keep signals for a shorter time');
        end if;
        insert into forebay.kept_signal (owner_id, name, key, payload, at, expires_at)
        values (of_owner, signal.name, signal.key, payload, at, at + keep);
    end if;
    return reached;
end $$;
