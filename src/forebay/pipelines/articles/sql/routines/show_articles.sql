-- Lists articles with the columns of lists, in the order of the ids. Volatile, so that it sees rows that the same statement added.
create or replace function forebay.show_articles(ids bigint[]) returns table (
    id bigint, slug text, title text, excerpt text, words int, version int, skip_embedding boolean, embedding text,
    embedding_problem text, embedded_version int, embedded_at timestamptz, job_id bigint, created_at timestamptz,
    updated_at timestamptz
) language sql volatile as $$
select a.id, a.slug, a.title, a.excerpt, a.words, a.version, a.skip_embedding, e.state, e.reason, a.embedded_version, a.embedded_at,
       a.job_id, a.created_at, a.updated_at
from unnest(ids) with ordinality u(id, place)
join forebay.article a on a.id = u.id
cross join lateral forebay.article_embedding(a) e
order by u.place
$$;
