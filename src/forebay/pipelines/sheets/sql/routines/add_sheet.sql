-- Opens the job that the rows of a file become items of. A content of a source that was taken before is not taken again.
create or replace function forebay.add_sheet(
    owner_id bigint, name text, size bigint, options jsonb, source text default null, path text default null,
    version text default null, key text default null, priority int default 0, meta jsonb default null, trace text default null,
    out id bigint, out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
begin
    select o.reference, o.job_id, o.created into id, job_id, created from forebay.open_intake(
        'sheets', '{sheets,sheet_images,catalogue_rows}', owner_id, name, source, path, version, key, priority, meta, trace) o;
    if not created then
        return;
    end if;
    insert into forebay.sheet as s (owner_id, job_id, name, options, providers)
    values (add_sheet.owner_id, add_sheet.job_id, add_sheet.name, add_sheet.options,
            nullif(array(select jsonb_array_elements_text(add_sheet.options -> 'providers')), '{}'))
    returning s.id into id;
    insert into forebay.intake_file (target, reference, owner_id, job_id, name, size, source, path, version)
    values ('sheets', add_sheet.id, add_sheet.owner_id, add_sheet.job_id, add_sheet.name, add_sheet.size, add_sheet.source,
            add_sheet.path, add_sheet.version);
end $$;
