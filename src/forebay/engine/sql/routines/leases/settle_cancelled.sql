-- Ends the open tasks of these leases whose job is cancelled. Returns their number; the leases may remain, without them.
create or replace function forebay.settle_cancelled(tokens bigint[], now timestamptz) returns int
language plpgsql set jit = off as $$
declare
    batch record;
    ended int := 0;
begin
    for batch in
        select t.worker_id, t.step_id, array_agg(t.token) as tokens, array_agg(t.n) as ns, array_agg(t.claimed_at) as started,
               array_agg('the job was cancelled'::text) as reasons
        from forebay.open_tasks(tokens) t where t.cancelled
        group by t.worker_id, t.step_id, t.batch order by t.worker_id, t.step_id, t.batch
    loop
        perform forebay.settle_for_worker(
            batch.worker_id, batch.tokens, batch.ns, batch.started, 'CANCELLED', true, 'cancelled', batch.reasons, now);
        ended := ended + cardinality(batch.ns);
    end loop;
    return ended;
end $$;
