-- The state of an article's vectors. A task that has ended without a word about the article, because its worker was lost or
-- somebody cancelled it, is found in its item; and the index may have got the text in another way.
create or replace function forebay.article_embedding(a forebay.article, out state text, out reason text)
language sql stable as $$
select case when a.embedding in ('fresh', 'off') then a.embedding
            when x.version is not null then 'fresh'
            when a.embedding <> 'waiting' then a.embedding
            when i.status = 'PENDING' and j.finished_at is null then 'waiting'
            when i.status = 'ERROR' then 'failed'
            else 'stale' end,
       case when x.version is not null then null when a.embedding <> 'waiting' then a.problem
            when i.status = 'ERROR' then i.error ->> 'reason' end
from (select) one
left join forebay.item i on a.embedding = 'waiting' and i.job_id = a.job_id and i.n = a.item
left join forebay.job j on j.id = i.job_id
left join lateral (
    select x.version from forebay.search_document d
    join forebay.search_indexed x on x.document_id = d.id and x.version >= d.version
    join forebay.search_model m on m.id = x.model_id and m.state = 'active'
    where a.embedding not in ('fresh', 'off') and d.owner_id = a.owner_id and d.kind = 'article' and d.ref = a.id::text
      and d.source_version = a.version
    limit 1) x on true
$$;
