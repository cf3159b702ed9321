-- The items with dead letters in the spans ($1 jobs, $2 first and $3 last numbers, in parallel) of an owner ($4, null: any), by job,
-- whose status is among $5. `left_out`: items with another status. `letters`: the dead letters that were read.
select c.job_id, array_agg(c.n order by c.n) filter (where i.status::text = any($5::text[])) as ns,
       count(*) filter (where i.status::text <> all($5::text[])) as left_out, sum(c.letters)::int as letters
from (
    select d.job_id, d.n, count(*) as letters
    from unnest($1::bigint[], $2::int[], $3::int[]) s(job_id, first, last)
    join forebay.dead_letter d on d.job_id = s.job_id and d.n between s.first and s.last
    where $4::bigint is null or d.owner_id = $4
    group by d.job_id, d.n
) c
join forebay.item i on i.job_id = c.job_id and i.n = c.n
group by c.job_id
order by c.job_id
