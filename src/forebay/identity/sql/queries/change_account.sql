-- Changes the fields that are not null; $4: disabled. Sessions are ended by a later statement, which also sees those that
-- were opened meanwhile.
update forebay.account set
    role = coalesce($2::forebay.account_role, role),
    password = coalesce($3::text, password),
    disabled_at = case when $4::boolean is null then disabled_at when $4 then coalesce(disabled_at, clock_timestamp()) end
where name = $1
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
