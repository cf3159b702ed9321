-- Records that a task fails because too many of its children have: if its item is reprocessed, these run again.
create or replace function forebay.fail_map(job_id bigint, n int, step_id int) returns void language sql as $$
    update forebay.waiting w set payload = w.payload || '{"failed": true}', signalled_at = coalesce(w.signalled_at, clock_timestamp())
    from forebay.step s
    where w.job_id = fail_map.job_id and w.n = fail_map.n and w.bit = s.bit and s.id = fail_map.step_id and w.name = 'forebay.map'
$$;
