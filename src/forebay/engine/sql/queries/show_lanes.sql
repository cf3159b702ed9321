-- The lanes with the largest backlogs.
select o.name as owner, l.job_id, l.priority, o.weight, l.paused, cast(r.tasks as bigint) as ready
from (
    select lane_id, sum(last_n - first_n + 1) as tasks from forebay.ready group by lane_id order by 2 desc limit cast($1 as int)
) r
join forebay.lane l on l.id = r.lane_id
join forebay.owner o on o.id = l.owner_id
order by r.tasks desc, l.id
