-- One account with the hash of its password.
select id, owner_id, name, role, created_at, signed_in_at, disabled_at, password from forebay.account where name = $1
