-- Puts the next $2 sheets after $1 into the index; returns the last of them.
with next as (
    select s.id, case when s.read_at is not null then forebay.index_sheet(s.id) end from (
        select s.* from forebay.sheet s where s.id > $1 order by s.id limit $2) s
)
select max(n.id) as last, count(*) as count from next n
