-- Sets an owner's share of the workers: an owner with twice the weight gets twice the tasks. Creates the owner if necessary.
create or replace function forebay.set_owner_weight(
    owner text, weight float8, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    id_of_owner bigint;
begin
    if weight is null or weight not between 0.01 and 1000 then
        perform forebay.refuse('FB002', 'weight', 'must be between 0.01 and 1000');
    end if;
    id_of_owner := forebay.owner_id(owner);
    update forebay.owner o set weight = set_owner_weight.weight
    where o.id = id_of_owner and o.weight <> set_owner_weight.weight::real;
    if not found then
        return false;
    end if;
    perform forebay.note(actor, 'set_owner_weight', id_of_owner, null, null, jsonb_build_object('weight', weight), at);
    return true;
end $$;
