-- The state of a job at its end: FAILED if no item succeeded and at least one failed, or if the job item failed.
create or replace function forebay.state_after(
    j forebay.job, done bigint, error bigint, closed bigint, own forebay.item_status
) returns forebay.job_state language sql immutable as $$
select case when j.state = 'CANCELLED' then 'CANCELLED'
            when not forebay.is_over(j, closed, own) then case when j.state = 'QUEUED' then 'RUNNING' else j.state end
            when own in ('ERROR', 'NOT_FOUND') or j.done + done = 0 and j.error + error > 0 then 'FAILED'
            else 'DONE' end::forebay.job_state
$$;
