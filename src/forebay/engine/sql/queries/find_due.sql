-- What the sweep has to do: when the next scheduled run is due (from $2 on), whether leases have expired (if $3; from the token
-- $4 on), whether items of cancelled jobs are open, whether a schedule is due; and the token from which on to look at leases next.
with clock as materialized (select coalesce(cast($1 as timestamptz), clock_timestamp()) as at)
select c.at,
       (select s.run_at from forebay.scheduled s
        where s.run_at >= coalesce(cast($2 as timestamptz), '-infinity') and s.run_at < 'infinity' order by s.run_at, s.seq limit 1) as next_at,
       l.lowest_token, l.has_expired,
       exists (select from forebay.job j where j.state = 'CANCELLED' and j.finished_at is null) as has_cancelled,
       exists (select from forebay.schedule s where not s.paused and s.next_at <= c.at) as has_schedule
from clock c cross join forebay.look_at_leases(cast($4 as bigint), cast($3 as boolean), c.at) l
