-- Reports the progress of the bookmark jobs $1, in order, by step.
select i.job_id, case when jsonb_typeof(i.input -> 'bookmarkId') = 'number' then i.input ->> 'bookmarkId' end as bookmark,
       i.status::text as status, i.error ->> 'step' as failed_step, i.error ->> 'reason' as reason,
       forebay.step_names(i.pipeline_id, i.done) as done,
       forebay.step_names(i.pipeline_id, i.dead) as dead
from unnest($1::bigint[]) with ordinality u(job_id, place)
join forebay.item i on i.job_id = u.job_id and i.n = 1
order by u.place
