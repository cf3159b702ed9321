-- Sets the owner that the API acts for, and the caller's address, until the transaction ends. Returns the owner's name.
create or replace function forebay.act_for(owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('forebay.owner_id', act_for.owner_id::text, true), set_config('forebay.ip', coalesce(ip, ''), true);
    select o.name into owner from forebay.owner o where o.id = act_for.owner_id;
end $$;
