-- Takes the ready tasks whose place in the order is not known yet out of the queue, for the owners of these lanes, at most max_tasks of
-- each owner and 8 MB of inputs: the first ones in the order in which they were queued, from all lanes of the owner, paused or not. The caller has
-- called lock_order(), and passes them to order_tasks() in the same transaction. Tasks that have ended have no input.
create or replace function forebay.take_unordered(steps int[], lanes bigint[], max_tasks int, with_meta boolean)
returns table (step_id int, lane_id bigint, job_id bigint, n int, attempt smallint, owner_id bigint, input text, owner text, meta text)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    run_steps int[];
    run_lanes bigint[];
    run_seqs bigint[];
begin
    with found as (
        select a.step_id, r.lane_id, r.seq,
               sum(r.size) over (partition by a.step_id, a.owner_id order by r.seq, r.lane_id) - r.size as before
        from (select distinct a.step_id, h.owner_id
              from unnest(steps, lanes) a(step_id, lane_id) join forebay.lane h on h.id = a.lane_id) a
        cross join lateral (
            select r.lane_id, r.seq, r.last_n - r.first_n + 1 as size
            from forebay.lane l cross join lateral (
                select r.* from forebay.ready r where r.step_id = a.step_id and r.lane_id = l.id
                order by r.step_id, r.lane_id, r.seq limit max_tasks) r
            where l.owner_id = a.owner_id and l.limit_name = '') r
    )
    select array_agg(f.step_id), array_agg(f.lane_id), array_agg(f.seq) into run_steps, run_lanes, run_seqs
    from found f where f.before < max_tasks;
    return query
    with run as materialized (
        delete from forebay.ready r using unnest(run_steps, run_lanes, run_seqs) f(step_id, lane_id, seq)
        where r.step_id = f.step_id and r.lane_id = f.lane_id and r.seq = f.seq
        returning r.*
    ),
    task as materialized (
        select r.step_id, r.lane_id, r.seq, r.job_id, r.owner_id, r.attempt, i.n, i.input,
               i.status = 'PENDING' and (i.done | i.dead) & s.bit = 0 and j.state <> 'CANCELLED' and j.steps & s.bit <> 0 as is_open,
               row_number() over w as place, sum(pg_column_size(i.input)) over w as bytes
        from run r
        join forebay.step s on s.id = r.step_id
        join forebay.job j on j.id = r.job_id
        cross join lateral (
            select i.* from forebay.item i where i.job_id = r.job_id and i.n between r.first_n and r.last_n offset 0) i
        window w as (partition by r.step_id, r.owner_id order by r.seq, r.lane_id, i.n)
    ),
    taken as materialized (
        select t.* from task t where t.place = 1 or t.place <= max_tasks and t.bytes <= 8388608
    ),
    rest as (  -- in its place
        insert into forebay.ready (step_id, lane_id, seq, job_id, owner_id, first_n, last_n, attempt)
        select r.step_id, r.lane_id, r.seq, r.job_id, r.owner_id, t.first_n, r.last_n, r.attempt
        from run r join (
            select t.step_id, t.lane_id, t.seq, min(t.n) as first_n from task t
            where not (t.place = 1 or t.place <= max_tasks and t.bytes <= 8388608) group by 1, 2, 3) t
            on t.step_id = r.step_id and t.lane_id = r.lane_id and t.seq = r.seq
    )
    select t.step_id, t.lane_id, t.job_id, t.n, t.attempt, t.owner_id, case when t.is_open then t.input::text end,
           case when with_meta then o.name end, case when with_meta then j.meta::text end
    from taken t
    left join forebay.job j on with_meta and j.id = t.job_id
    left join forebay.owner o on with_meta and o.id = t.owner_id
    order by t.step_id, t.owner_id, t.place;
end $$;
