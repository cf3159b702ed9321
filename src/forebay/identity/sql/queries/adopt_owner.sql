-- Adds an account for the existing owner of that name; no row when the owner has one.
insert into forebay.account (owner_id, name, role, password)
select o.id, $1, $2::forebay.account_role, $3 from forebay.owner o where o.name = $1
on conflict do nothing
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
