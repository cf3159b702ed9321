-- Deletes the vectors of a model that is neither active nor building, and the model; returns whether there was such a one.
create or replace function forebay.drop_search_model(model_id int) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.open_search_model', 4662));
    if not exists (select from forebay.search_model m where m.id = model_id and m.state = 'old') then
        return false;
    end if;
    execute format('drop table if exists forebay.%I', 'search_chunk_' || model_id);
    delete from forebay.search_model m where m.id = model_id;
    return true;
end $$;
select forebay.permit_call('drop_search_model(int)', 'forebay_worker', 'forebay_admin');
