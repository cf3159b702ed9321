-- The articles that jobs $1 with a single task are about.
select t.job_id, t.article_id, coalesce(a.title, i.input ->> 'slug') as title
from forebay.job j
join forebay.article_task t on t.job_id = j.id and t.item = 1
join forebay.item i on i.job_id = t.job_id and i.n = t.item
left join forebay.article a on a.id = t.article_id
where j.id = any($1::bigint[]) and j.total = 1
