-- Opens the job for the children of a task that a worker holds; their items follow in batches. Null if it does not hold the task.
create or replace function forebay.open_children(token bigint, n int, pipeline text, now timestamptz default null)
returns table (job_id bigint, owner_id bigint, pipeline_id int) language plpgsql as $$
#variable_conflict use_column
declare
    held forebay.lease := forebay.held_lease(token, n);
    child forebay.job;
begin
    if held.token is null then
        return;
    end if;
    child := forebay.new_children(held.job_id, n, held.step_id, pipeline, coalesce(now, clock_timestamp()));
    return query select child.id, child.owner_id, child.pipeline_id;
end $$;
