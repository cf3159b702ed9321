-- Submits an export of the grid of a job, for the owner of the sheet.
create or replace function forebay.export_sheet(
    job_id bigint, format text, options jsonb, trace text default null
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
    submitted bigint;
begin
    perform forebay.grid_columns(job_id, array(select jsonb_array_elements_text(options -> 'show')));
    select s.* into strict sheet from forebay.sheet s where s.job_id = export_sheet.job_id;
    select s.job_id into strict submitted from forebay.submit(
        forebay.traced('sheet_exports', trace),
        options || jsonb_build_object('jobId', sheet.job_id::text, 'name', sheet.name, 'format', export_sheet.format),
        (select o.name from forebay.owner o where o.id = sheet.owner_id),
        meta => jsonb_build_object('jobId', sheet.job_id::text, 'file', sheet.name, 'format', export_sheet.format)) s;
    insert into forebay.sheet_export (job_id, sheet_id, owner_id, format, options)
    values (submitted, sheet.id, sheet.owner_id, export_sheet.format, export_sheet.options);
    return submitted;
end $$;
