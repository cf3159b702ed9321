-- The same as settle, with long columns as text, which drivers encode several times faster than arrays: numbers separated by
-- commas (started in microseconds), results by the record separator, which JSON cannot contain; empty results are null. Pauses
-- are in seconds, so that only the database's clock matters.
create or replace function forebay.settle_packed(
    worker_id bigint, tokens text, task_ns text, started text, results text, outcomes text[],
    again_ins float8[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null
) returns table (
    settled bigint, stale_tokens bigint[], stale_ns int[], steps int[], lanes bigint[], seqs bigint[], finished_jobs bigint[]
) language plpgsql as $$
begin
return query select * from forebay.settle(
    worker_id, string_to_array(tokens, ',')::bigint[], string_to_array(task_ns, ',')::int[], outcomes::forebay.outcome[],
    string_to_array(results, chr(30), '')::jsonb[],
    (select array_agg(s::float8 / 1e6) from unnest(string_to_array(started, ',')) s),
    case when cardinality(again_ins) = 0 then '{}' else array(
        select coalesce(now, clock_timestamp()) + make_interval(secs => a.seconds)
        from unnest(again_ins) with ordinality a(seconds, place) order by a.place) end,
    spents, ends_items, classes, reasons, now);
end $$;
