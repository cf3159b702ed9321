-- Items of a job after number `after`, in order, as search_items() finds them.
create or replace function forebay.find_items(
    job_id bigint, after int, statuses forebay.item_status[], max_items int, max_rows int default 20000,
    since timestamptz default null, until timestamptz default null,
    out ns int[], out next_after int, out looked_at int
) language sql stable as $$
select s.ns, s.next_start, s.looked_at from forebay.search_items(job_id, after, false, statuses, max_items, max_rows, since, until) s
$$;
