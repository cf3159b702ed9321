-- Finds an account with its password hash.
select id, owner_id, name, role, created_at, signed_in_at, disabled_at, password from forebay.account where name = $1
