-- The steps that an item can run next when it has done those in the mask.
create or replace function forebay.next_steps(job forebay.job, done bigint) returns setof forebay.step
language sql stable as $$
select s.* from forebay.step s
where s.pipeline_id = job.pipeline_id and s.active and not s.after_all
  and s.bit & job.steps <> 0 and s.bit & next_steps.done = 0 and s.needs & ~next_steps.done = 0
$$;
