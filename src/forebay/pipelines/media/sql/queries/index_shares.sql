-- Puts the next $2 shares after $1 into the index; returns the last of them.
with next as (
    select s.id, forebay.index_share(s.id) from (
        select s.id from forebay.share s where s.id > $1 order by s.id limit $2) s
)
select max(n.id) as last, count(*) as count from next n
