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
