-- An account with a new owner of the same name; no row when there is such an owner already. The insert itself decides that,
-- so that nobody can make the owner in between.
with made as (insert into forebay.owner (name) values ($1) on conflict (name) do nothing returning id)
insert into forebay.account (owner_id, name, role, password) select m.id, $1, $2::forebay.account_role, $3 from made m
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
