-- Lists all accounts by name.
select id, owner_id, name, role, created_at, signed_in_at, disabled_at from forebay.account order by name
