-- Adds a category, or finds the one of that name.
with made as (
    insert into forebay.category (owner_id, name) values ($1, $2) on conflict (owner_id, name) do nothing
    returning id, name, created_at
)
select id, name, created_at, true as created from made
union all
select c.id, c.name, c.created_at, false from forebay.category c
where c.owner_id = $1 and c.name = $2 and not exists (select from made)
