-- Passes the stored file of a sheet on to a new sheet of the same owner, which replaces it. Returns false if the file was passed on
-- already. What a file has become is for workers to write: therefore this runs with other rights than the caller's, and only for
-- sheets of the owner in forebay.owner_id.
create or replace function forebay.replace_sheet(old_id bigint, new_id bigint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    stored forebay.intake_file;
begin
    if (select count(*) from forebay.sheet s
        where s.id in (old_id, new_id) and s.owner_id = forebay.acting_owner() and s.replaced_by is null) < 2 then
        return false;
    end if;
    select f.* into stored from forebay.intake_file f where f.target = 'sheets' and f.reference = old_id for update;
    if stored.file_id is null then
        return false;
    end if;
    update forebay.intake_file f set file_id = null where f.target = 'sheets' and f.reference = old_id;
    update forebay.intake_file f set file_id = stored.file_id, size = stored.size, received_at = stored.received_at
    where f.target = 'sheets' and f.reference = new_id;
    update forebay.sheet_file k set sheet_id = new_id where k.file_id = stored.file_id;
    update forebay.sheet s set replaced_by = (select n.job_id from forebay.sheet n where n.id = new_id) where s.id = old_id;
    return true;
end $$;
select forebay.permit_call('replace_sheet(bigint, bigint)', 'forebay_api');
