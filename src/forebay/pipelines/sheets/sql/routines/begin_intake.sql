-- Submits the work of receiving and reading a file, once.
create or replace function forebay.begin_intake(sheet_id bigint, trace text default null, run_at timestamptz default null)
returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    sheet forebay.sheet;
    submitted bigint;
begin
    select s.* into strict sheet from forebay.sheet s where s.id = begin_intake.sheet_id for update;
    if sheet.intake_job_id is not null then
        return sheet.intake_job_id;
    end if;
    select s.job_id into strict submitted from forebay.submit(
        forebay.traced('sheet_intake', trace), jsonb_build_object('sheetId', sheet.id),
        (select o.name from forebay.owner o where o.id = sheet.owner_id), 'sheet ' || sheet.id,
        (select j.priority from forebay.job j where j.id = sheet.job_id),
        begin_intake.run_at, false, jsonb_build_object('jobId', sheet.job_id::text, 'file', sheet.name)) s;
    update forebay.sheet s set intake_job_id = submitted where s.id = sheet.id;
    return submitted;
end $$;
