-- Wakes the tasks whose children are in these jobs, which have ended. If the run of a task is locked at this moment, or a worker
-- has the task, the end of its children is kept as a signal: the task gets it when it waits again, or from sweep_signals().
create or replace function forebay.end_maps(children bigint[], at timestamptz) returns void
language plpgsql set enable_seqscan = off as $$
declare waits forebay.waiting[];
begin
    waits := array(
        select w from unnest(children) k(id)
        cross join lateral (
            select c.parent_id, c.parent_n, c.parent_bit from forebay.job c
            where c.id = k.id and c.finished_at is not null offset 0) c
        join forebay.waiting w on w.job_id = c.parent_id and w.n = c.parent_n and w.bit = c.parent_bit
        where w.name = 'forebay.map' and w.key = k.id::text
        order by w.job_id, w.n, w.bit);
    if cardinality(waits) = 0 or forebay.wake_waiting(waits, null, at) = cardinality(waits) then
        return;
    end if;
    insert into forebay.kept_signal (owner_id, name, key, at, expires_at)
    select w.owner_id, w.name, w.key, end_maps.at, end_maps.at + interval '7 days'
    from unnest(waits) u
    join forebay.waiting w on w.job_id = u.job_id and w.n = u.n and w.bit = u.bit and w.key = u.key
    join forebay.item i on i.job_id = w.job_id and i.n = w.n and i.status = 'PENDING'
    where u.signalled_at is not null or w.signalled_at is null;  -- that a task was woken before may have been undone
end $$;
