-- Removes tasks that have ended from the order of their keys, and lets the next task of each key run. Returns the lanes with ready tasks.
create or replace function forebay.end_ordered(tasks forebay.ordered_task[], at timestamptz)
returns table (step_id int, lane_id bigint, seq bigint)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    mine tid[];
    vacant forebay.ordered_task[];
begin
    mine := array(
        select l.ctid from (
            select o.pipeline_id, o.bit, o.owner_id, o.key, o.job_id, o.n from unnest(tasks) t cross join lateral (
                select o.* from forebay.ordered_task o where o.job_id = t.job_id and o.n = t.n and o.bit = t.bit offset 0) o
            order by 1, 2, 3, 4, 5, 6) o
        cross join lateral (
            select l.ctid from forebay.ordered_task l where l.job_id = o.job_id and l.n = o.n and l.bit = o.bit for update) l);
    with gone as (
        delete from forebay.ordered_task o where o.ctid = any(mine) returning o.*
    )
    select array_agg(g) into vacant from gone g where g.is_current;
    if vacant is not null then
        return query select a.step_id, a.lane_id, a.seq from forebay.advance_keys(vacant, at) a;
    end if;
end $$;
