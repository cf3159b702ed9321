-- The lanes with the most work, and what waits and runs in each.
select o.name as owner, l.job_id, l.priority, o.weight, l.paused, cast(w.ready as bigint) as ready, cast(w.running as bigint) as running,
       l.limit_name, l.limit_key, l.owner_id
from (
    select t.lane_id, sum(t.ready) as ready, sum(t.running) as running
    from (
        select r.lane_id, sum(r.last_n - r.first_n + 1) as ready, 0 as running from forebay.ready r group by r.lane_id
        union all
        select e.lane_id, 0, sum(upper(n) - lower(n)) from forebay.lease e cross join lateral unnest(e.ns) n group by e.lane_id
    ) t
    group by t.lane_id
    order by 2 desc, 3 desc limit cast($1 as int)
) w
join forebay.lane l on l.id = w.lane_id
join forebay.owner o on o.id = l.owner_id
order by w.ready desc, w.running desc, l.id
