-- Settles tasks on behalf of a worker that no longer does so.
create or replace function forebay.settle_for_worker(
    worker_id bigint, tokens bigint[], ns int[], started timestamptz[], outcome forebay.outcome, ends_item boolean,
    class text, reasons text[], now timestamptz
) returns void language plpgsql as $$
declare size int[] := array[cardinality(tokens)];
begin
    perform forebay.settle(
        worker_id, tokens, ns, array_fill(outcome, size), '{}', array(select extract(epoch from s)::float8 from unnest(started) s),
        '{}', '{}', array_fill(ends_item, size), array_fill(class, size), reasons, now);
end $$;
