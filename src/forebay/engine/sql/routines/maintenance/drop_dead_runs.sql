-- Drops runs of deleted jobs from the heads of their lanes, where they would block all others. Returns the number of runs.
create or replace function forebay.drop_dead_runs() returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare dropped int;
begin
    with blocked as materialized (
        select p.step_id, p.lane_id from forebay.ready_lanes() p
        where not exists (select from forebay.job j where j.id = p.job_id)
    )
    delete from forebay.ready where ctid = any(array(
        select r.place from blocked b cross join lateral (
            select r.ctid as place from forebay.ready r where r.step_id = b.step_id and r.lane_id = b.lane_id
              and not exists (select from forebay.job j where j.id = r.job_id)
            order by r.step_id, r.lane_id, r.seq limit 1000 for update of r skip locked) r));
    get diagnostics dropped = row_count;
    return dropped;
end $$;
