-- The mean of the vectors of a document of the owner in forebay.owner_id; null if the model has none.
create or replace function forebay.document_vector(document_id bigint, model_id int) returns real[]
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_vector real[];
    tab constant text := 'forebay.search_chunk_' || model_id::text;
    extension constant text := (
        select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'vector');
begin
    if to_regclass(tab) is not null then
        execute format('select %2$s.avg(c.embedding)::%2$s.vector::real[] from %1$s c where c.document_id = $1 and c.owner_id = $2',
                       tab, extension)
            into found_vector using document_id, forebay.acting_owner();
    end if;
    return found_vector;
end $$;
select forebay.permit_call('document_vector(bigint, int)', 'forebay_api', 'forebay_admin');
