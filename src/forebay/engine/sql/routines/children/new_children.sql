-- Opens the job for the children of a task. It gets the owner, the priority, the meta and the trace of the task's job.
create or replace function forebay.new_children(job_id bigint, n int, step_id int, pipeline text, now timestamptz)
returns forebay.job language plpgsql as $$
#variable_conflict use_column
declare
    parent forebay.job;
    known forebay.pipeline;
    child forebay.job;
begin
    select p.* into known from forebay.pipeline p where p.name = new_children.pipeline;
    if known.id is null then
        perform forebay.refuse('FB001', 'pipeline', format(
            'there is no pipeline %L here: start its worker, or run `forebay migrate --pipelines MODULE`', pipeline));
    end if;
    select j.* into strict parent from forebay.job j where j.id = new_children.job_id;
    insert into forebay.job as j
        (owner_id, pipeline_id, version_id, priority, sealed, steps, job_steps, meta, trace, lane_id, created_at, updated_at,
         parent_id, parent_n, parent_bit)
    select parent.owner_id, known.id, known.version_id, parent.priority, false, known.steps, known.job_steps, parent.meta, parent.trace,
           forebay.lane_id(parent.owner_id, 0, parent.priority), new_children.now, new_children.now, parent.id, new_children.n, s.bit
    from forebay.step s where s.id = new_children.step_id
    returning j.* into child;
    return child;
end $$;
