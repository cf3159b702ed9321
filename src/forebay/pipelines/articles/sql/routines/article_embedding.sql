-- The state of an article's vectors. A task that has ended without a word about the article, because its worker was lost or
-- somebody cancelled it, is found in its item.
create or replace function forebay.article_embedding(a forebay.article, out state text, out reason text)
language sql stable as $$
select case when a.embedding <> 'waiting' then a.embedding
            when i.status in ('PENDING', 'PROCESSING') and j.finished_at is null then 'waiting'
            when i.status = 'ERROR' then 'failed'
            when a.embedded_version = a.version then 'fresh'
            else 'stale' end,
       case when a.embedding = 'failed' then a.problem when i.status = 'ERROR' then i.error ->> 'reason' end
from (select) one
left join forebay.item i on a.embedding = 'waiting' and i.job_id = a.job_id and i.n = a.item
left join forebay.job j on j.id = i.job_id
$$;
