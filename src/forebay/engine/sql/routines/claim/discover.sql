-- The (step, lane) pairs with ready tasks: one index probe per pair, regardless of the size of their backlogs.
-- Steps whose queue is paused or parked are left out. When a parked queue may be tried again, a few of its lanes are
-- returned: one task is tried.
create or replace function forebay.discover(steps int[], now timestamptz default null) returns table (
    step_id int, lane_id bigint, owner_id bigint, job_id bigint, priority smallint, weight real
) language plpgsql stable set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    open_steps int[];
    parked_steps int[];
begin
select coalesce(array_agg(s.id) filter (where q.parked is null), '{}'),
       coalesce(array_agg(s.id) filter (where q.parked is not null), '{}')
into open_steps, parked_steps
from forebay.step s join forebay.queue q on q.name = s.queue
where s.id = any(steps) and not q.paused and (q.parked is null or q.probe_at <= at);
return query
with recursive pair(step_id, lane_id) as (
    select s.step_id, (select r.lane_id from forebay.ready r where r.step_id = s.step_id order by r.lane_id limit 1)
    from unnest(open_steps || parked_steps) as s(step_id)
    union all
    select p.step_id, (select r.lane_id from forebay.ready r
                       where r.step_id = p.step_id and r.lane_id > p.lane_id order by r.lane_id limit 1)
    from pair p where p.lane_id is not null
),
found as (
    select p.step_id, p.lane_id, l.owner_id, l.job_id, l.priority, o.weight
    from pair p
    join forebay.lane l on l.id = p.lane_id and not l.paused
    join forebay.owner o on o.id = l.owner_id
)
select f.* from found f where f.step_id = any(open_steps)
union all
select s.step_id, f.lane_id, f.owner_id, f.job_id, f.priority, f.weight
from unnest(parked_steps) as s(step_id)
cross join lateral (select * from found f where f.step_id = s.step_id order by f.lane_id limit 8) f;
end $$;
