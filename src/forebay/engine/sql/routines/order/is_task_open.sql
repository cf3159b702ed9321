-- Whether a task may still run: neither its step nor its item has ended, and its job goes on and has the step.
create or replace function forebay.is_task_open(job_id bigint, n int, step_bit bigint) returns boolean language sql stable as $$
select exists (
    select from forebay.item i join forebay.job j on j.id = i.job_id
    where i.job_id = is_task_open.job_id and i.n = is_task_open.n and i.status = 'PENDING' and (i.done | i.dead) & step_bit = 0
      and j.state <> 'CANCELLED' and j.steps & step_bit <> 0)
$$;
