-- Makes a received file the only item of its job, and seals the job. Does nothing when the job takes no more items.
create or replace function forebay.add_intake_item(job_id bigint, input jsonb) returns void language plpgsql as $$
#variable_conflict use_column
declare job forebay.job;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.job', add_intake_item.job_id));
    select j.* into job from forebay.job j where j.id = add_intake_item.job_id and not j.sealed and j.loaded = 0;
    if found then
        insert into forebay.item (job_id, n, owner_id, pipeline_id, input)
        values (job.id, 1, job.owner_id, job.pipeline_id, add_intake_item.input);
        perform forebay.append(job.id, 0, 1, 1, 0, '{1}', '{1}'), forebay.seal(job.id, 1);
    end if;
end $$;
