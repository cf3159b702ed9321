-- Where the tasks of item $2 of job $1 are, reading at most $3 runs for each.
select t.step_bit as bit, t.place, t.at, t.until, t.attempt, t.worker_id, t.is_cancelled, t.ahead, t.is_cut, l.priority, l.limit_name, l.limit_key
from forebay.tasks_of_item($1, $2, $3) t left join forebay.lane l on l.id = t.lane_id
