-- The same as settle_reports, for workers of the previous release, which report the time of the start by their own clock, in
-- microseconds since the epoch.
create or replace function forebay.settle_packed(
    worker_id bigint, tokens text, task_ns text, started text, results text, outcomes text[],
    again_ins float8[], spents boolean[], ends_items boolean[], classes text[], reasons text[],
    now timestamptz default null
) returns table (
    settled bigint, stale_tokens bigint[], stale_ns int[], steps int[], lanes bigint[], seqs bigint[], finished_jobs bigint[]
) language plpgsql as $$
begin
return query select * from forebay.settle_reports(
    worker_id, tokens, task_ns,
    (select string_agg(greatest(0, extract(epoch from coalesce(now, clock_timestamp())) * 1e6 - s.started::numeric)::bigint::text,
                       ',' order by s.place)
     from unnest(string_to_array(started, ',')) with ordinality s(started, place)),
    results, outcomes, again_ins, spents, ends_items, classes, reasons, now);
end $$;
