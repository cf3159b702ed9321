-- The open tasks of job $1 by step and place, with their first and last item; at most $2 runs of each place are read.
select r.step_bit as bit, r.place, sum(r.last_n - r.first_n + 1) as tasks, min(r.first_n) as first_n, max(r.last_n) as last_n,
       sum(count(*)) over (partition by replace(r.place, 'held', 'scheduled')) >= $2 as is_cut
from forebay.job j cross join lateral forebay.open_runs(j, $2) r
where j.id = $1
group by r.step_bit, r.place
order by r.step_bit, r.place
