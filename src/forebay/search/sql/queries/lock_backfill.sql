-- How far kind $1 has been added, locked; no row while another transaction adds some of it.
with added as (
    insert into forebay.search_backfill (kind) values ($1) on conflict (kind) do nothing
    returning position, finished_at
)
select a.position, a.finished_at from added a
union all
select * from (select b.position, b.finished_at from forebay.search_backfill b where b.kind = $1 for update skip locked) b
limit 1
