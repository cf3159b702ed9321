-- The catalogues that the rows of an owner are matched with.
create or replace function forebay.catalogues_of(owner_id bigint) returns bigint[] language sql stable as $$
    select array(select c.id from forebay.catalogue c where c.owner_id = catalogues_of.owner_id
                 union select c.id from forebay.catalogue c where c.shared)
$$;
