-- Removes up to max_rows files that were downloaded before this time, and vouchers made before it. The rows stay, with their hashes.
create or replace function forebay.clean_attachments(before timestamptz, max_rows int) returns int language plpgsql as $$
declare
    files int;
    vouchers int;
begin
    update forebay.attachment a set file_id = null, removed_at = clock_timestamp() where a.id = any(array(
        select d.id from forebay.attachment d where d.file_id is not null and d.downloaded_at < before
        order by d.downloaded_at limit max_rows for update skip locked));
    get diagnostics files = row_count;
    update forebay.attachment_instance i set voucher_id = null where i.id = any(array(
        select d.id from forebay.attachment_instance d where d.voucher_id is not null and d.settled_at < before
        order by d.settled_at limit max_rows for update skip locked));
    get diagnostics vouchers = row_count;
    return files + vouchers;
end $$;
