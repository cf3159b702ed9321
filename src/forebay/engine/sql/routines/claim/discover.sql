-- The (step, lane) pairs with ready tasks: one index probe per pair, regardless of the size of their backlogs.
create or replace function forebay.discover(steps int[]) returns table (
    step_id int, lane_id bigint, owner_id bigint, job_id bigint, priority smallint, weight real
) language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
return query
with recursive pair(step_id, lane_id) as (
    select s.step_id, (select r.lane_id from forebay.ready r where r.step_id = s.step_id order by r.lane_id limit 1)
    from unnest(steps) as s(step_id)
    union all
    select p.step_id, (select r.lane_id from forebay.ready r
                       where r.step_id = p.step_id and r.lane_id > p.lane_id order by r.lane_id limit 1)
    from pair p where p.lane_id is not null
)
select p.step_id, p.lane_id, l.owner_id, l.job_id, l.priority, o.weight
from pair p
join forebay.lane l on l.id = p.lane_id and not l.paused
join forebay.owner o on o.id = l.owner_id;
end $$;
