-- Opens the job of a file that comes in for a target, in the first of these pipelines; or finds the file that has the key. The job
-- may have moved to another of the pipelines since. A content of a source that was taken before is not taken again.
-- For a new job, `reference` is null: the caller adds the row of intake_file.
create or replace function forebay.open_intake(
    target text, pipelines text[], owner_id bigint, name text, source text default null, path text default null,
    version text default null, key text default null, priority int default 0, meta jsonb default null, trace text default null,
    out reference bigint, out job_id bigint, out created boolean
) language plpgsql as $$
#variable_conflict use_column
declare
    opened record;
    owner text;
begin
    select o.name into strict owner from forebay.owner o where o.id = open_intake.owner_id;
    if version not like 'asked %' then
        insert into forebay.intake_taken as k (target, source, path, version)
        values (open_intake.target, open_intake.source, sha256(convert_to(open_intake.path, 'UTF8')),
                sha256(convert_to(open_intake.version, 'UTF8')))
        on conflict (target, source, path, version) do update set seen_at = clock_timestamp()
        returning k.xmax = 0 into created;
        if not created then
            return;
        end if;
    end if;
    perform set_config('forebay.file', name, true);
    select f.reference, f.job_id, false into reference, job_id, created
    from forebay.pipeline p
    join forebay.job j on j.pipeline_id = p.id and j.owner_id = open_intake.owner_id and j.key = open_intake.key
    join forebay.intake_file f on f.job_id = j.id and f.target = open_intake.target
    where p.name = any(pipelines) limit 1;
    if found then
        return;
    end if;
    select o.job_id, o.created into strict opened from forebay.open_job(
        forebay.traced(pipelines[1], trace), owner, key, priority, 0, false, meta, null) o;
    job_id := opened.job_id;
    created := opened.created;
    if not created then
        select f.reference into reference from forebay.intake_file f
        where f.job_id = opened.job_id and f.target = open_intake.target;
        if reference is null then
            perform forebay.refuse('FB005', 'key', format('is that of job %s, which is not made of a file', opened.job_id));
        end if;
    end if;
end $$;
