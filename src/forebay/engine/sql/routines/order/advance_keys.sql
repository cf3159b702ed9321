-- Makes the first open task of each of these keys current and ready, if no task of the key is. A task that is not waiting, because its
-- item is paused, becomes current, too: the key waits for it. Returns the lanes with ready tasks, each with the first place to look at.
create or replace function forebay.advance_keys(keys forebay.ordered_task[], at timestamptz)
returns table (step_id int, lane_id bigint, seq bigint)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    vacant forebay.ordered_task[] := keys;
    first forebay.ordered_task[];
    alive forebay.ordered_task[];
    ended forebay.ordered_task[];
begin
    loop
        first := array(
            select f from unnest(vacant) k cross join lateral (
                select t.* from forebay.ordered_task t
                where t.pipeline_id = k.pipeline_id and t.bit = k.bit and t.owner_id = k.owner_id and t.key = k.key
                order by t.job_id, t.n limit 1 for update) f
            where not exists (
                select from forebay.ordered_task c
                where c.pipeline_id = k.pipeline_id and c.bit = k.bit and c.owner_id = k.owner_id and c.key = k.key and c.is_current));
        exit when cardinality(first) = 0;
        select coalesce(array_agg(g.task) filter (where g.is_open), '{}'), coalesce(array_agg(g.task) filter (where not g.is_open), '{}')
        into alive, ended from (select f as task, forebay.is_task_open(f.job_id, f.n, f.bit) as is_open from unnest(first) f offset 0) g;
        return query
        with current as (
            update forebay.ordered_task t set is_current = true
            where t.ctid = any(array(
                select t.ctid from unnest(alive) f cross join lateral (
                    select t.ctid from forebay.ordered_task t where t.job_id = f.job_id and t.n = f.n and t.bit = f.bit offset 0) t))
            returning t.job_id, t.n, t.bit
        ),
        -- One that is locked is being paused or cancelled at this moment.
        due as materialized (
            select s.ctid as place from current c cross join lateral (
                select s.ctid from forebay.scheduled s join forebay.step p on p.id = s.step_id and p.bit = c.bit
                where s.job_id = c.job_id and s.first_n = c.n and s.last_n = c.n and s.run_at = forebay.waits_in_order()
                for update of s skip locked) s
        ),
        moved as (
            delete from forebay.scheduled s where s.ctid = any(array(select d.place from due d)) returning s.*
        ),
        queued as (
            insert into forebay.ready as x (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
            select m.step_id, m.lane_id, m.job_id, m.owner_id, m.first_n, m.last_n, m.attempt from moved m order by m.seq
            returning x.step_id, x.lane_id, x.seq
        ),
        woken as (
            select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
        )
        select w.step_id, w.lane_id, w.seq from woken w
        cross join lateral (select forebay.wake(w.step_id, w.lane_id, w.seq, at)) told;
        exit when cardinality(ended) = 0;
        delete from forebay.ordered_task t using unnest(ended) e where t.job_id = e.job_id and t.n = e.n and t.bit = e.bit;
        delete from forebay.scheduled s using unnest(ended) e, forebay.step p
        where s.job_id = e.job_id and s.first_n = e.n and s.last_n = e.n and s.run_at = forebay.waits_in_order()
          and p.id = s.step_id and p.bit = e.bit;
        vacant := ended;
    end loop;
end $$;
