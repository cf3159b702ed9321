-- Merges bookmark $1 into the one that it duplicates, and deletes it. Returns the id of the other.
with gone as (
    select b.id, b.duplicate_of, b.own_title, b.note, b.tags, b.category_id, b.archived_at
    from forebay.bookmark b where b.id = $1 and b.duplicate_of is not null for update
), moved as (
    update forebay.bookmark d set duplicate_of = g.duplicate_of from gone g where d.duplicate_of = g.id and d.id <> g.duplicate_of
), deleted as (
    delete from forebay.bookmark b using gone g where b.id = g.id
)
update forebay.bookmark k set
    own_title = coalesce(k.own_title, g.own_title),
    note = left(nullif(concat_ws(E'\n\n', k.note, g.note), ''), 100000),
    tags = array(select distinct t from unnest(k.tags || g.tags) t order by t),
    category_id = coalesce(k.category_id, g.category_id),
    archived_at = case when g.archived_at is null then null else k.archived_at end,
    updated_at = clock_timestamp()
from gone g where k.id = g.duplicate_of
returning k.id
