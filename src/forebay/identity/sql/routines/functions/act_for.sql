-- Says until the transaction ends for whom, and from which address, the API's role acts. Returns the owner's name.
create or replace function forebay.act_for(owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('forebay.owner_id', act_for.owner_id::text, true), set_config('forebay.ip', coalesce(ip, ''), true);
    select o.name into owner from forebay.owner o where o.id = act_for.owner_id;
end $$;
