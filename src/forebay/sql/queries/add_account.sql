-- An account, with the owner of the same name, which may have been there before.
with made as (insert into forebay.owner (name) values ($1) on conflict (name) do nothing returning id),
known as (select id from made union all select o.id from forebay.owner o where o.name = $1 limit 1)
insert into forebay.account (owner_id, name, role, password) select k.id, $1, $2::forebay.account_role, $3 from known k
on conflict (name) do nothing
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
