-- An account, with the owner of the same name, which may have been there before.
with known as (
    insert into forebay.owner (name) values ($1) on conflict (name) do update set name = excluded.name returning id
)
insert into forebay.account (owner_id, name, role, password) select k.id, $1, $2::forebay.account_role, $3 from known k
on conflict (name) do nothing
returning id, owner_id, name, role, created_at, signed_in_at, disabled_at
