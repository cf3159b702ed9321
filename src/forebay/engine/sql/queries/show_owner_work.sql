-- The owners with tasks that may run or run now, those with the most first, and their shares by weight.
-- Paused lanes do not count: they take nothing from the others.
select w.id, w.owner, w.weight, w.ready, w.running, w.fair_share, w.owners
from (
    select o.id, o.name as owner, o.weight, cast(t.ready as bigint) as ready, cast(t.running as bigint) as running,
           cast(o.weight / sum(o.weight) over () as float8) as fair_share, count(*) over () as owners
    from (
        select s.owner_id, sum(s.ready) as ready, sum(s.running) as running
        from (
            select l.owner_id, sum(r.tasks) as ready, 0 as running
            from (select q.lane_id, sum(q.last_n - q.first_n + 1) as tasks from forebay.ready q group by q.lane_id) r
            join forebay.lane l on l.id = r.lane_id and not l.paused
            group by l.owner_id
            union all
            select e.owner_id, 0, sum(upper(n) - lower(n)) from forebay.lease e cross join lateral unnest(e.ns) n group by e.owner_id
        ) s
        group by s.owner_id
    ) t
    join forebay.owner o on o.id = t.owner_id
) w
order by w.ready + w.running desc, w.id
limit $1::int
