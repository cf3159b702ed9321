-- The steps that an item can run next after those in the mask; for a job item, the `after_all` steps.
create or replace function forebay.next_steps(job forebay.job, done bigint, of_job_item boolean default false)
returns setof forebay.step language sql stable as $$
select s.* from forebay.version_step v join forebay.step s on s.id = v.step_id
where v.version_id = coalesce(job.version_id, -job.pipeline_id) and v.after_all = of_job_item
  and v.bit & case when of_job_item then job.job_steps else job.steps end <> 0
  and v.bit & next_steps.done = 0 and v.needs & ~next_steps.done = 0
$$;
