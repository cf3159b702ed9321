-- Removes the oldest files of each owner who keeps more than so many bytes, until it fits: up to max_rows. Returns how many.
create or replace function forebay.clean_attachments_over(most_bytes bigint, max_rows int) returns int language plpgsql as $$
declare
    removed int;
begin
    update forebay.attachment a set file_id = null, removed_at = clock_timestamp() where a.id = any(array(
        select k.id from (
            select d.id, d.downloaded_at, sum(d.size) over (
                partition by d.owner_id order by d.downloaded_at desc, d.id desc) as newer_bytes
            from forebay.attachment d where d.file_id is not null) k
        where k.newer_bytes > most_bytes order by k.downloaded_at limit max_rows));
    get diagnostics removed = row_count;
    return removed;
end $$;
