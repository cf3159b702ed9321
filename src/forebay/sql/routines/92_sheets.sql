-- Sheets: a file that comes in, the job of its rows, and the job that reads it.

-- Opens the job that the rows of a file become items of. A content of a source that was taken before is not taken again.
create or replace function forebay.add_sheet(
    owner_id bigint, name text, size bigint, options jsonb, source text default null, path text default null,
    version text default null, key text default null, priority int default 0, meta jsonb default null, trace text default null,
    out id bigint, out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    opened record;
    owner text;
begin
    select o.name into strict owner from forebay.owner o where o.id = add_sheet.owner_id;
    if version not like 'asked %' then
        insert into forebay.sheet_taken as k (source, path, version)
        values (add_sheet.source, sha256(convert_to(add_sheet.path, 'UTF8')), sha256(convert_to(add_sheet.version, 'UTF8')))
        on conflict (source, path, version) do update set seen_at = clock_timestamp()
        returning k.xmax = 0 into created;
        if not created then
            return;
        end if;
    end if;
    perform set_config('forebay.file', name, true);
    -- The job may have become one of another pipeline since, but a key stands for one upload.
    select s.id, s.job_id, false into id, job_id, created
    from forebay.pipeline p
    join forebay.job j on j.pipeline_id = p.id and j.owner_id = add_sheet.owner_id and j.key = add_sheet.key
    join forebay.sheet s on s.job_id = j.id
    where p.name in ('sheets', 'sheet_images', 'catalogue_rows') limit 1;
    if found then
        return;
    end if;
    select o.job_id, o.created into strict opened from forebay.open_job(
        forebay.traced('sheets', trace), owner, key, priority, 0, false, meta, null) o;
    if not opened.created then
        select s.id, s.job_id, false into id, job_id, created from forebay.sheet s where s.job_id = opened.job_id;
        if id is null then
            perform forebay.refuse('FB005', 'key', format('is that of job %s, which is not made of a file', opened.job_id));
        end if;
        return;
    end if;
    insert into forebay.sheet as s (owner_id, job_id, name, size, options, source, path, version, providers)
    values (add_sheet.owner_id, opened.job_id, add_sheet.name, add_sheet.size, add_sheet.options, add_sheet.source, add_sheet.path,
            add_sheet.version, array(select jsonb_array_elements_text(add_sheet.options -> 'providers')))
    returning s.id, s.job_id, true into id, job_id, created;
    update forebay.sheet s set providers = null where s.id = add_sheet.id and s.providers = '{}';
end $$;

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

-- The file of a job that was cancelled is not read any further; nothing happens when the job is not made of a file.
create or replace function forebay.cancel_intake(job_id bigint, actor text, at timestamptz) returns void language plpgsql as $$
#variable_conflict use_column
declare
    intake bigint := (
        select i.id from forebay.sheet s join forebay.job i on i.id = s.intake_job_id
        where s.job_id = cancel_intake.job_id and i.finished_at is null);
begin
    if intake is not null then
        perform forebay.cancel(intake, actor, at);
    end if;
exception when sqlstate 'FB005' then
    null;  -- it has ended meanwhile
end $$;

-- Makes a job that has no items yet one of another pipeline: what a file is, is known only when it is read.
create or replace function forebay.turn_job(job_id bigint, pipeline text) returns void language plpgsql as $$
#variable_conflict use_column
begin
    update forebay.job j set pipeline_id = p.id, steps = p.steps, job_steps = p.job_steps
    from forebay.pipeline p
    where j.id = turn_job.job_id and p.name = turn_job.pipeline and j.pipeline_id <> p.id and j.total = 0 and not j.sealed;
end $$;

-- How many bytes of a file have come, one piece after the other. Pieces that were begun and never ended do not count.
create or replace function forebay.received(sheet_id bigint) returns bigint language plpgsql stable as $$
declare
    upto bigint := 0;
    piece record;
begin
    for piece in select p.start, p.size from forebay.sheet_piece p
                 where p.sheet_id = received.sheet_id and p.size is not null order by p.start loop
        exit when piece.start <> upto;
        upto := piece.start + piece.size;
    end loop;
    return upto;
end $$;

-- Deletes sheets whose jobs are gone, with their files, and uploads that nobody goes on with. Tells which objects of uploads
-- are to be deleted from the store.
create or replace function forebay.tidy_sheets(
    grace interval, now timestamptz default null, out sheets bigint, out objects text[]
) language plpgsql as $$
declare
    before timestamptz := coalesce(now, clock_timestamp()) - grace;
    gone bigint[];
    abandoned record;
begin
    -- An upload that nobody goes on with ends its job as cancelled; the job itself is kept as long as others.
    for abandoned in
        select s.id, s.job_id from forebay.sheet s
        where s.intake_job_id is null and s.created_at < before
          and not exists (select from forebay.sheet_piece p where p.sheet_id = s.id and p.created_at >= before)
        order by s.id limit 1000 for update skip locked
    loop
        perform forebay.cancel(j.id, 'forebay') from forebay.job j where j.id = abandoned.job_id and j.finished_at is null;
        update forebay.sheet s set problem = 'the upload was never completed', intake_job_id = 0 where s.id = abandoned.id;
    end loop;
    -- Rows do not wait for a reading that has ended without an end of theirs, as one that was cancelled.
    perform forebay.cancel(j.id, 'forebay')
    from forebay.job j join forebay.sheet s on s.job_id = j.id join forebay.job i on i.id = s.intake_job_id
    where not j.sealed and j.finished_at is null and i.finished_at < before;
    delete from forebay.sheet_taken k where k.seen_at < before - interval '180 days';
    with old as (
        delete from forebay.sheet_piece p using forebay.sheet s
        where s.id = p.sheet_id and p.created_at < before
          and (p.size is null or s.received_at < before or s.intake_job_id = 0
               or exists (select from forebay.job i where i.id = s.intake_job_id and i.finished_at < before))
        returning p.sheet_id, p.name)
    select array_agg(format('uploads/%s/%s', o.sheet_id, o.name)) into objects from old o;
    gone := array(
        select s.id from forebay.sheet s
        where s.created_at < before and not exists (select from forebay.job j where j.id = s.job_id)
          and not exists (select from forebay.sheet_piece p where p.sheet_id = s.id)
        order by s.id limit 1000);
    delete from forebay.file f using forebay.sheet_file k where k.sheet_id = any(gone) and f.id = k.file_id;
    delete from forebay.sheet s where s.id = any(gone);
    sheets := cardinality(gone);
    objects := coalesce(objects, '{}');
end $$;
