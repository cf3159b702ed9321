-- Keeps the mapping of the sheet of a job for the next file of its owner with the same columns. An owner has at most 200 of them: the
-- one that was not used for longest goes. Returns false when the columns are not known.
create or replace function forebay.keep_preset(job_id bigint) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
begin
    select s.* into sheet from forebay.sheet s where s.job_id = keep_preset.job_id;
    if sheet.columns is null or sheet.mapping is null then
        return false;
    end if;
    insert into forebay.sheet_preset as p (owner_id, fingerprint, mapping, providers)
    values (sheet.owner_id, forebay.column_fingerprint(sheet.columns), sheet.mapping, sheet.providers)
    on conflict (owner_id, fingerprint) do update
        set mapping = excluded.mapping, providers = excluded.providers, used_at = clock_timestamp();
    delete from forebay.sheet_preset p where p.owner_id = sheet.owner_id and p.fingerprint in (
        select o.fingerprint from forebay.sheet_preset o where o.owner_id = sheet.owner_id order by o.used_at desc offset 200);
    return true;
end $$;
