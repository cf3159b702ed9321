-- The same as settle, with long columns as text, which drivers encode several times faster than arrays: numbers separated by
-- commas, results by the record separator, which JSON cannot contain; empty results are null. Times are relative, so that only
-- the database's clock matters: elapsed is in microseconds since the start, pauses are in seconds.
create or replace function forebay.settle_reports(
    worker_id bigint, tokens text, task_ns text, elapsed text, results text, outcomes text[],
    again_ins float8[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null
) returns table (
    settled bigint, stale_tokens bigint[], stale_ns int[], steps int[], lanes bigint[], seqs bigint[], finished_jobs bigint[]
) language plpgsql as $$
declare epoch float8 := extract(epoch from coalesce(now, clock_timestamp()));
begin
return query select * from forebay.settle(
    worker_id, string_to_array(tokens, ',')::bigint[], string_to_array(task_ns, ',')::int[], outcomes::forebay.outcome[],
    string_to_array(results, chr(30), '')::jsonb[],
    (select array_agg(epoch - e::float8 / 1e6) from unnest(string_to_array(elapsed, ',')) e),
    case when cardinality(again_ins) = 0 then '{}' else array(
        select coalesce(now, clock_timestamp()) + make_interval(secs => a.seconds)
        from unnest(again_ins) with ordinality a(seconds, place) order by a.place) end,
    spents, ends_items, classes, reasons, now);
end $$;
