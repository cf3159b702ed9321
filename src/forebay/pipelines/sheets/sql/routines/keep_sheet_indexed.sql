-- Keeps the index of all searches in sync with sheets.
create or replace function forebay.keep_sheet_indexed() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' then
        perform forebay.delete_document(old.owner_id, 'sheet', old.job_id::text);
    else
        perform forebay.index_sheet(new.id);
    end if;
    return null;
end $$;

create or replace trigger keep_indexed after update of read_at on forebay.sheet
    for each row when (new.read_at is not null) execute function forebay.keep_sheet_indexed();

create or replace trigger forget_indexed after delete on forebay.sheet
    for each row execute function forebay.keep_sheet_indexed();
