-- Ends the tasks of these leases that were lost max_expiries times since they last ended. Returns their number.
create or replace function forebay.settle_lost(tokens bigint[], now timestamptz) returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare
    batch record;
    ended int := 0;
begin
    for batch in
        with lost as materialized (
            select o.* from forebay.count_losses(settle_lost.tokens) o
        )
        select t.worker_id, t.step_id, array_agg(t.token) as tokens, array_agg(t.n) as ns, array_agg(t.claimed_at) as started,
               array_agg(format('the worker was lost %s times while it had this task', o.times + 1)) as reasons
        from lost o join forebay.open_tasks(array(select distinct token from lost)) t on t.token = o.token and t.n = o.n
        join forebay.step s on s.id = t.step_id
        where o.times >= s.max_expiries
        group by t.worker_id, t.step_id, t.batch order by t.worker_id, t.step_id, t.batch
    loop
        perform forebay.settle_for_worker(
            batch.worker_id, batch.tokens, batch.ns, batch.started, 'ERROR', false, 'transient', batch.reasons, now);
        ended := ended + cardinality(batch.ns);
    end loop;
    return ended;
end $$;
