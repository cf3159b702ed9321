-- The exact number of tasks of articles by status, of one owner or of all that the caller may see.
create or replace function forebay.embedding_counts(
    of_owner bigint, out pending bigint, out processing bigint, out completed bigint, out failed bigint
) language sql stable as $$
select coalesce(sum(c.pending), 0)::bigint, coalesce(sum(c.processing), 0)::bigint,
       coalesce(sum(c.done + c.skipped + c.not_found), 0)::bigint, coalesce(sum(c.error), 0)::bigint
from forebay.count_items() c join forebay.pipeline p on p.id = c.pipeline_id and p.name = 'articles'
where of_owner is null or c.owner_id = of_owner
$$;
