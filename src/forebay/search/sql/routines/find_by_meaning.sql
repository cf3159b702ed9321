-- Chunks of the owner in forebay.owner_id that are nearest to a vector, the nearest first, at most one of a document.
-- The vectors of an owner with few (most_exact) are compared one by one. For others the index of vectors is read, and read on
-- until enough of its entries are of that owner and match the filter: so filters do not make it miss what it should find.
-- It runs without row-level security, like find_by_words().
create or replace function forebay.find_by_meaning(
    model_id int, vector real[], filter jsonb, max_rows int, most_exact int default 10000, effort int default 100
) returns table (id bigint, distance real, starts int, stops int, second real)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
declare
    owner constant bigint := forebay.acting_owner();
    extension constant text := (
        select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'vector');
    tab constant text := 'forebay.search_chunk_' || model_id::text;
    matches constant text := case when filter = '{}' then 'true' else format(
        '(select %s from forebay.search_document d where d.id = c.document_id)', forebay.document_conditions(filter)) end;
    own int;
begin
    if extension is null or to_regclass(tab) is null or owner is null then
        return;
    end if;
    execute format('select count(*) from (select from %s c where c.owner_id = $1 limit $2) s', tab)
        into own using owner, most_exact + 1;
    if own <= most_exact then
        return query execute format('
            select s.document_id, s.distance::real, s.starts, s.stops, s.second from (
                select distinct on (n.document_id) n.* from (
                    select c.document_id, c.starts, c.stops, c.second,
                           (c.embedding operator(%2$s.<=>) $2::%2$s.halfvec) + 0 as distance
                    from %1$s c where c.owner_id = $1 and %3$s
                    order by distance limit $3 * 4) n
                order by n.document_id, n.distance) s
            order by s.distance limit $3', tab, extension, matches)
        using owner, vector, max_rows;
        return;
    end if;
    perform set_config('hnsw.ef_search', effort::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
            set_config('hnsw.max_scan_tuples', '40000', true), set_config('enable_sort', 'off', true),
            set_config('enable_seqscan', 'off', true);
    return query execute format('
        select s.document_id, s.distance::real, s.starts, s.stops, s.second from (
            select distinct on (n.document_id) n.* from (
                select c.document_id, c.starts, c.stops, c.second,
                       c.embedding::%2$s.halfvec(%4$s) operator(%2$s.<=>) $2::%2$s.halfvec as distance
                from %1$s c where c.owner_id = $1 and %3$s
                order by c.embedding::%2$s.halfvec(%4$s) operator(%2$s.<=>) $2::%2$s.halfvec limit $3 * 2) n
            order by n.document_id, n.distance) s
        order by s.distance limit $3', tab, extension, matches, cardinality(vector))
    using owner, vector, max_rows;
    perform set_config('enable_sort', 'on', true), set_config('enable_seqscan', 'on', true);
end $$;
select forebay.permit_call('find_by_meaning(int, real[], jsonb, int, int, int)', 'forebay_api', 'forebay_admin');
