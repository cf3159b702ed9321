-- The state of a job after that: FAILED when none of its items succeeded and one failed, or when its own item failed.
create or replace function forebay.state_after(
    j forebay.job, done bigint, error bigint, closed bigint, own forebay.item_status
) returns forebay.job_state language sql immutable as $$
select case when j.state = 'CANCELLED' then 'CANCELLED'
            when not forebay.is_over(j, closed, own) then case when j.state = 'QUEUED' then 'RUNNING' else j.state end
            when own in ('ERROR', 'NOT_FOUND') or j.done + done = 0 and j.error + error > 0 then 'FAILED'
            else 'DONE' end::forebay.job_state
$$;
