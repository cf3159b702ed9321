-- Finds or adds a model. The first one is active at once; a later one is building, in place of one that was building before.
-- It creates a partition, so it runs with the rights of the owner of the schema.
create or replace function forebay.open_search_model(name text, dimensions int, out id int, out state text, out created boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    known forebay.search_model;
    extension constant text := (
        select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'vector');
    tab text;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.open_search_model', 4662));
    select m.* into known from forebay.search_model m where m.name = open_search_model.name;
    if found and known.dimensions <> open_search_model.dimensions then
        perform forebay.refuse('FB002', 'dimensions', format(
            'of the model %L are %s in the index, not %s', known.name, known.dimensions, open_search_model.dimensions));
    end if;
    if known.state in ('active', 'building') then
        id := known.id;
        state := known.state;
        created := false;
        return;
    end if;
    update forebay.search_model m set state = 'old' where m.state = 'building';
    state := case when exists (select from forebay.search_model m where m.state = 'active') then 'building' else 'active' end;
    created := known.id is null;
    if created then
        insert into forebay.search_model as m (name, dimensions, state, activated_at)
        values (open_search_model.name, open_search_model.dimensions, open_search_model.state,
                case when open_search_model.state = 'active' then clock_timestamp() end)
        returning m.id into id;
        tab := 'search_chunk_' || id;
        execute format('create table forebay.%I partition of forebay.search_chunk for values in (%s)', tab, id);
        execute format('create index on forebay.%1$I using hnsw ((embedding::%2$s.halfvec(%3$s)) %2$s.halfvec_cosine_ops)',
                       tab, extension, open_search_model.dimensions);
        perform forebay.own(tab, 'select');
    else
        id := known.id;
        update forebay.search_model m set state = open_search_model.state where m.id = known.id;
    end if;
end $$;
select forebay.permit_call('open_search_model(text, int)', 'forebay_worker', 'forebay_admin');
