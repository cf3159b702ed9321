-- Makes the row of worker $1 again, which is named $2 and started at $7, if a failover has lost it; it knows the versions $4, runs
-- the steps $5, and declares the schedules $6 (null: unknown). Returns whether the row is there and is its own: containers with a
-- fixed host name and pid 1 have the same name.
with kept as (
    insert into forebay.worker (id, name, started_at, seen_at, versions, steps, schedules) overriding system value
    values ($1, $2, $7, coalesce($3, clock_timestamp()), $4, $5, $6)
    on conflict (id) do update set seen_at = excluded.seen_at where worker.name = excluded.name and worker.started_at = excluded.started_at
    returning id
),
counted as (
    select setval(s.seq, greatest(k.id, nextval(s.seq)))
    from kept k, pg_get_serial_sequence('forebay.worker', 'id') s(seq)
)
select count(*) = 1 from counted
