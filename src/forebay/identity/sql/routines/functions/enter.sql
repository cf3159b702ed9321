-- What comes after this in the same statement already runs with the role's rights. Returns the owner's name.
-- The role and the owner hold until the transaction ends, also where a pooler lends the session to others in between.
create or replace function forebay.enter(role text, owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('role', enter.role, true);
    owner := forebay.act_for(enter.owner_id, enter.ip);
end $$;
