-- Tells all workers that those of round $4[i] are to claim from the lane $2[i] of step $1[i], if a task with the number $3[i] or
-- a higher one is ready there. A first round (0) begins with the first such task.
select pg_notify('forebay', concat_ws(
    ' ', 'pass', w.step_id, w.lane_id, case when w.round = 0 then r.seq else w.seq end, w.round))
from unnest($1::int[], $2::bigint[], $3::bigint[], $4::int[]) w(step_id, lane_id, seq, round)
cross join lateral (
    select r.seq from forebay.ready r where r.step_id = w.step_id and r.lane_id = w.lane_id and r.seq >= w.seq
    order by r.step_id, r.lane_id, r.seq limit 1) r
