-- The steps of job $1 with the numbers of their tasks; at most $2 runs of each place and $3 failed items are read. needs: the
-- names of the steps before. A step that ended otherwise than done is `not_found` or `failed` if no step before it has failed, by
-- the status of its item, else `skipped`.
-- The statement sees one moment, so a task is counted in one place.
with job as materialized (
    select j.*, j.total - j.done - j.skipped - j.not_found - j.error as open_items, j.total > 1000 as is_large
    from forebay.job j where j.id = $1
),
run as materialized (
    select r.* from forebay.job j cross join lateral forebay.open_runs(j, $2) r where j.id = $1
),
ended as materialized (  -- equal ones together: there are few different masks
    select m.status, m.done, m.dead, count(*) as items
    from forebay.job j cross join lateral forebay.masks_of_items(j, $3) m where j.id = $1 group by m.status, m.done, m.dead
),
own as materialized (
    select i.status, i.done, i.dead & ~i.done as dead, 1::bigint as items from forebay.item i where i.job_id = $1 and i.n = 0
),
step as materialized (
    select v.*, q.paused, q.parked from job j
    join forebay.version_step v on v.version_id = coalesce(j.version_id, -j.pipeline_id)
        and v.bit & (j.steps | j.job_steps) <> 0
    join forebay.queue q on q.name = v.queue
),
cut as (
    select j.is_large and (coalesce((select sum(e.items) from ended e), 0) >= $3
               -- An open item with a step that failed cannot be told from one that is before that step, unless steps form a chain.
               or j.open_items > 0 and (select sum(bit_count(s.downstream::bit(64))) < count(*) * (count(*) - 1) / 2
                                        from step s where not s.after_all))
           or exists (select from run r group by replace(r.place, 'held', 'scheduled') having count(*) >= $2) as is_cut
    from job j
)
select s.name, array(select b.name from step b where b.bit & s.needs <> 0 order by b.place) as after, s.optional, s.after_all, s.queue,
       s.paused, s.parked, c.waiting, c.scheduled, c.running, c.on_hold,
       case when s.after_all or not j.is_large then e.done
            else greatest(0, j.done + e.done + j.open_items - b.items) end as done,
       e.failed, e.not_found, e.skipped, not u.is_cut as exact
from job j cross join cut u cross join step s
cross join lateral (
    select coalesce(sum(r.last_n - r.first_n + 1) filter (where r.place = 'ready'), 0) as waiting,
           coalesce(sum(r.last_n - r.first_n + 1) filter (where r.place = 'scheduled'), 0) as scheduled,
           coalesce(sum(r.last_n - r.first_n + 1) filter (where r.place = 'leased'), 0) as running,
           coalesce(sum(r.last_n - r.first_n + 1) filter (where r.place = 'held'), 0) as on_hold
    from run r where r.step_bit = s.bit) c
cross join lateral (
    select coalesce(sum(m.items) filter (where m.done & s.bit <> 0), 0)::bigint as done,
           coalesce(sum(m.items) filter (
               where m.dead & s.bit <> 0 and m.status not in ('SKIPPED', 'NOT_FOUND') and m.dead & s.needs = 0), 0)::bigint as failed,
           coalesce(sum(m.items) filter (
               where m.dead & s.bit <> 0 and m.status = 'NOT_FOUND' and m.dead & s.needs = 0), 0)::bigint as not_found,
           coalesce(sum(m.items) filter (
               where m.dead & s.bit <> 0 and (m.status = 'SKIPPED' or m.dead & s.needs <> 0)), 0)::bigint as skipped
    from (select * from ended where not s.after_all union all select * from own where s.after_all) m) e
cross join lateral (  -- open items that have not done this step: those with a task of it, or of a step before it
    select coalesce(sum(upper(u.u) - lower(u.u)), 0) as items
    from (select unnest(range_agg(int4range(r.first_n, r.last_n, '[]'))) as u
          from run r join step a on a.bit = r.step_bit
          where r.last_n > 0 and (a.bit = s.bit or a.downstream & s.bit <> 0)) u) b
order by s.place
