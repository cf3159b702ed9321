-- Gives what bookmark $1 says to the one that it is a duplicate of, and deletes it. Answers that one's id.
with gone as (
    delete from forebay.bookmark b where b.id = $1 and b.duplicate_of is not null
    returning b.duplicate_of, b.own_title, b.note, b.tags, b.category_id
)
update forebay.bookmark k set
    own_title = coalesce(k.own_title, g.own_title),
    note = nullif(concat_ws(E'\n\n', k.note, g.note), ''),
    tags = array(select distinct t from unnest(k.tags || g.tags) t order by t),
    category_id = coalesce(k.category_id, g.category_id),
    archived_at = null,
    updated_at = clock_timestamp()
from gone g where k.id = g.duplicate_of
returning k.id
