-- Items of job $1 after number $3 that are at the step named $2, in order, at most $4: those with an open task of it, in at most $5
-- runs, and those that ended there without being done, among at most $6 failed items. ns: their numbers; next_after: where the next
-- page begins, null if there are no more; has_step: whether items of the job run that step.
with step as materialized (
    select v.bit, v.needs from forebay.job j
    join forebay.version_step v on v.version_id = coalesce(j.version_id, -j.pipeline_id) and v.bit & j.steps <> 0
    where j.id = $1 and v.name = $2 and not v.after_all
),
run as materialized (
    select greatest(r.first_n, $3 + 1) as first_n, r.last_n
    from forebay.job j cross join lateral forebay.open_runs(j, $5) r join step s on s.bit = r.step_bit
    where j.id = $1 and r.last_n > $3
    order by 1 limit $4 + 1
),
failed as materialized (
    select i.n, i.dead & ~i.done as dead, i.status from forebay.item i
    where i.job_id = $1 and i.n > $3 and i.n > 0 and i.verdict <> 'DONE'
    order by i.n limit $6
),
read_to as (  -- beyond the failed items that were read, nothing is known
    select case when count(*) >= $6 then max(f.n) end as n from failed f
),
at_step as (
    select n from run r cross join lateral generate_series(r.first_n, least(r.last_n, r.first_n + $4)) n
    union
    select f.n from failed f join step s on f.dead & s.bit <> 0 and f.dead & s.needs = 0
    where f.status <> 'SKIPPED'
),
page as (
    select a.n from at_step a, read_to t where t.n is null or a.n <= t.n order by a.n limit $4 + 1
)
select (select coalesce(array_agg(p.n order by p.n), '{}') from (select n from page order by n limit $4) p) as ns,
       case when (select count(*) from page) > $4 then (select max(p.n) from (select n from page order by n limit $4) p)
            else (select t.n from read_to t) end as next_after,
       exists (select from step) as has_step
