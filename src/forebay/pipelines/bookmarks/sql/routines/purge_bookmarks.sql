-- Deletes up to max_rows bookmarks for good that were deleted before this time; their files go with them. Returns how many.
create or replace function forebay.purge_bookmarks(before timestamptz, max_rows int) returns int language plpgsql as $$
declare gone int;
begin
    delete from forebay.bookmark b where b.id = any(array(
        select d.id from forebay.bookmark d where d.deleted_at < before order by d.owner_id, d.id limit max_rows
        for update skip locked));
    get diagnostics gone = row_count;
    return gone;
end $$;
