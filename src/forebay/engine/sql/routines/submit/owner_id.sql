-- The owner's id; the owner is made when it is new.
create or replace function forebay.owner_id(owner text) returns bigint
language plpgsql as $$
declare found_id bigint;
begin
    select o.id into found_id from forebay.owner o where o.name = owner_id.owner;
    if found_id is null then
        if owner is null or length(owner) not between 1 and 200 then
            perform forebay.refuse('FB002', 'owner', 'must have 1 to 200 characters');
        end if;
        insert into forebay.owner (name) values (owner) on conflict do nothing;
        select o.id into strict found_id from forebay.owner o where o.name = owner_id.owner;
    end if;
    return found_id;
end $$;
