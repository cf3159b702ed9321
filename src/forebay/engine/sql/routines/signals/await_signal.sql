-- Records that a task waits for a signal, in the transaction that settles it: the settle makes it a scheduled run, due in
-- timeout_s, which is ten years if the wait has no limit. An item that has ended waits for nothing.
create or replace function forebay.await_signal(
    job_id bigint, n int, step_id int, name text, key text, timeout_s float8, now timestamptz default null
) returns void language sql as $$
    insert into forebay.waiting as w (job_id, n, bit, owner_id, name, key, expires_at)
    select i.job_id, i.n, s.bit, i.owner_id, await_signal.name, await_signal.key,
           case when timeout_s < 315360000 then coalesce(await_signal.now, clock_timestamp()) + make_interval(secs => timeout_s)
                else 'infinity' end
    from forebay.item i join forebay.step s on s.id = await_signal.step_id
    where i.job_id = await_signal.job_id and i.n = await_signal.n and i.status = 'PENDING' and (i.done | i.dead) & s.bit = 0
    on conflict (job_id, n, bit) do update set
        name = excluded.name, key = excluded.key, expires_at = excluded.expires_at, payload = null, signalled_at = null
$$;
