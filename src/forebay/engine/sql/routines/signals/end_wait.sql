-- Forgets for what a task has waited: its step has ended.
create or replace function forebay.end_wait(job_id bigint, n int, step_id int) returns void language sql as $$
    delete from forebay.waiting w
    where w.job_id = end_wait.job_id and w.n = end_wait.n
      and w.bit = (select s.bit from forebay.step s where s.id = end_wait.step_id)
$$;
