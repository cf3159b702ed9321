-- The (step, lane) pairs with ready runs, paused or not, and the first run of each.
create or replace function forebay.ready_lanes() returns table (step_id int, lane_id bigint, seq bigint, job_id bigint)
language sql stable rows 100 set enable_seqscan = off as $$
select s.id, p.lane_id, p.seq, p.job_id from forebay.step s cross join lateral (
    with recursive pair as (
        (select r.lane_id, r.seq, r.job_id from forebay.ready r where r.step_id = s.id order by r.lane_id, r.seq limit 1)
        union all
        select n.* from pair p cross join lateral (
            select r.lane_id, r.seq, r.job_id from forebay.ready r where r.step_id = s.id and r.lane_id > p.lane_id
            order by r.lane_id, r.seq limit 1) n)
    select * from pair) p
$$;
