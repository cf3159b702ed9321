-- Searches with another model from now on, unless it lacks documents and `anyway` is false; returns how many it lacks.
create or replace function forebay.activate_search_model(model_id int, anyway boolean default false) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
    missing bigint;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.open_search_model', 4662));
    missing := (select count(*) from forebay.search_document d
                where d.embeds and not exists (
                    select from forebay.search_indexed i where i.document_id = d.id and i.model_id = activate_search_model.model_id));
    if missing = 0 or anyway then
        update forebay.search_model m set state = 'old' where m.state = 'active' and m.id <> model_id;
        update forebay.search_model m set state = 'active', activated_at = clock_timestamp()
        where m.id = model_id and m.state <> 'active';
    end if;
    return missing;
end $$;
select forebay.permit_call('activate_search_model(int, boolean)', 'forebay_worker', 'forebay_admin');
