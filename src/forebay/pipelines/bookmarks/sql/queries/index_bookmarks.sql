-- Puts the next $2 bookmarks after $1 into the index; returns the last of them.
with next as (
    select b.id, forebay.index_bookmark(b.id) from (
        select b.id from forebay.bookmark b where b.id > $1 order by b.id limit $2) b
)
select max(n.id) as last, count(*) as count from next n
