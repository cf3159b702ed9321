-- An account for the owner of that name who is there already, with all that is the owner's; no row when it has one.
insert into forebay.account (owner_id, name, role, password)
select o.id, $1, $2::forebay.account_role, $3 from forebay.owner o where o.name = $1
on conflict do nothing
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
