-- Items ($1 jobs, $2 numbers, in parallel) with the columns of lists: a summary of the input, never all of it.
select i.job_id, i.n, p.name as pipeline, o.name as owner,
       case when i.status = 'PENDING' and l.token is not null then 'PROCESSING' else i.status::text end as status,
       greatest(coalesce(a.attempts, 0), coalesce(l.attempt, 0)) as attempts,
       w.name as locked_by, l.claimed_at as locked_at, i.created_at, i.updated_at, i.key,
       left(coalesce(i.input ->> 'title', i.input ->> 'name', i.input ->> 'url', i.input #>> (j.summary_paths ->> 'title')::text[],
                     i.input #>> '{image,name}', i.key), 200) as title,
       left(coalesce(i.input ->> 'brand', i.input #>> (j.summary_paths ->> 'brand')::text[]), 100) as brand,
       left(coalesce(i.input ->> 'sku', i.input #>> (j.summary_paths ->> 'sku')::text[]), 100) as sku,
       i.error::text as error, i.progress::text as progress, j.state::text as job_state
from unnest($1::bigint[], $2::int[]) with ordinality k(job_id, n, place)
join forebay.item i on i.job_id = k.job_id and i.n = k.n
join forebay.pipeline p on p.id = i.pipeline_id
join forebay.owner o on o.id = i.owner_id
left join lateral (select j.summary_paths, j.state from forebay.job j where j.id = i.job_id) j on true
left join lateral (
    select l.token, l.attempt, l.worker_id, l.claimed_at from forebay.lease l
    where i.status = 'PENDING' and l.job_id = i.job_id and l.ns @> i.n order by l.token desc limit 1) l on true
left join forebay.worker w on w.id = l.worker_id
left join lateral (
    select max(a.attempt) as attempts from forebay.attempt a
    where a.job_id = i.job_id and a.n = i.n and a.ended_at >= i.created_at) a on true
order by k.place
