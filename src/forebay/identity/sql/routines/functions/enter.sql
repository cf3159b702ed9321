-- Sets role and owner until the transaction ends, so that it also works with a transaction-mode pooler. The rest of the same
-- statement already runs with the rights of the role. Returns the owner's name.
create or replace function forebay.enter(role text, owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('role', enter.role, true);
    owner := forebay.act_for(enter.owner_id, enter.ip);
end $$;
