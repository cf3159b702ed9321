-- Forgets for what a task has waited: its step has ended. The signal of a step that has failed is kept: its item may be
-- reprocessed, and the step gets it then.
create or replace function forebay.end_wait(job_id bigint, n int, step_id int, has_failed boolean default false) returns void
language sql as $$
    delete from forebay.waiting w
    where w.job_id = end_wait.job_id and w.n = end_wait.n
      and w.bit = (select s.bit from forebay.step s where s.id = end_wait.step_id)
      and (not has_failed or w.signalled_at is null)
$$;
