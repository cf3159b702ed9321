-- Dead letters by step, counted up to $1: all, and those since $2.
select p.name as pipeline, s.name as step, sum(c.kept)::bigint as kept, sum(c.fresh)::bigint as fresh
from (
    select k.step_id, count(*) as kept, 0 as fresh
    from (select d.step_id from forebay.dead_letter d limit $1::int) k group by k.step_id
    union all
    select f.step_id, 0, count(*)
    from (select d.step_id from forebay.dead_letter d where d.at >= $2 limit $1::int) f group by f.step_id
) c
join forebay.step s on s.id = c.step_id
join forebay.pipeline p on p.id = s.pipeline_id
group by p.name, s.name
