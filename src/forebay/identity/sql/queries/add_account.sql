-- Adds an account with a new owner of the same name; no row when the owner exists. The insert decides, so that there is no
-- race with another transaction.
with made as (insert into forebay.owner (name) values ($1) on conflict (name) do nothing returning id)
insert into forebay.account (owner_id, name, role, password) select m.id, $1, $2::forebay.account_role, $3 from made m
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
