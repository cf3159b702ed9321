-- The status of a bookmark, as lists show it: that of the item of its last job, of which a worker may hold a task; if the job was
-- deleted, whether there is a result. It has no subquery, so that it becomes a part of the statements that call it.
create or replace function forebay.bookmark_status(item_status forebay.item_status, is_leased boolean, crawled_at timestamptz)
returns text language sql immutable parallel safe as $$
select case when item_status = 'PENDING' and is_leased then 'PROCESSING'
            else coalesce(item_status::text, case when crawled_at is null then 'ERROR' else 'DONE' end) end
$$;
