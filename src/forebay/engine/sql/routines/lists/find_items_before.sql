-- Items of a job before number `before`, in descending order, as search_items() finds them.
create or replace function forebay.find_items_before(
    job_id bigint, before int, statuses forebay.item_status[], max_items int, max_rows int default 20000,
    out ns int[], out next_before int
) language sql stable as $$
select s.ns, s.next_start from forebay.search_items(job_id, before, true, statuses, max_items, max_rows) s
$$;
