-- Deletes the files that attachments and instances no longer refer to.
create or replace function forebay.drop_attachment_files() returns trigger language plpgsql as $$
declare
    dropped bigint := case tg_table_name when 'attachment' then (to_jsonb(old) ->> 'file_id')::bigint
                                         else (to_jsonb(old) ->> 'voucher_id')::bigint end;
    kept bigint := case when tg_op = 'DELETE' then null
                        when tg_table_name = 'attachment' then (to_jsonb(new) ->> 'file_id')::bigint
                        else (to_jsonb(new) ->> 'voucher_id')::bigint end;
begin
    if dropped is distinct from kept then
        delete from forebay.file f where f.id = dropped;
    end if;
    return null;
end $$;

create or replace trigger drop_files after delete or update of file_id on forebay.attachment
    for each row execute function forebay.drop_attachment_files();
create or replace trigger drop_voucher after delete or update of voucher_id on forebay.attachment_instance
    for each row execute function forebay.drop_attachment_files();
