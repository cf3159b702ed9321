-- Opens, stores and starts the children of a task, if they are few: all in the transaction that settles it.
create or replace function forebay.map_inputs(
    job_id bigint, n int, step_id int, pipeline text, inputs jsonb[], max_failed int, now timestamptz default null
) returns void language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    child forebay.job := forebay.new_children(job_id, n, step_id, pipeline, at);
begin
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    select child.id, i.place, child.owner_id, child.pipeline_id, i.input, at, at from unnest(inputs) with ordinality i(input, place);
    update forebay.job j set total = cardinality(inputs) where j.id = child.id;
    perform forebay.start_children(child.id, max_failed, at);
end $$;
