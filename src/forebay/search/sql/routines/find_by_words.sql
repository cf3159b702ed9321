-- Documents of the owner in forebay.owner_id that have the words, the best first, with all words before those with some, among the
-- most_read newest. Each is searched with the configuration of its language.
-- With row-level security, PostgreSQL cannot use the index of words, whose operators are not leakproof: it runs without, and
-- reads only the rows of that owner.
create or replace function forebay.find_by_words(words text, "any" boolean, filter jsonb, max_rows int, most_read int default 5000)
returns table (id bigint, rank real)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set plan_cache_mode = force_custom_plan as $$
begin
    return query execute format('
        select m.id, m.rank from (
            select d.id, ts_rank_cd(d.search, q.own, 1)::real as rank
            from forebay.search_document d
            cross join lateral forebay.words_query(forebay.document_config(d.language), $2, $3) q(own)
            where d.search @@ $4 and d.search @@ q.own and %s
            order by d.id desc limit $6) m
        order by m.rank desc, m.id desc limit $5', forebay.document_conditions(filter))
    using forebay.acting_owner(), words, "any", forebay.document_question(words, "any"), max_rows, most_read;
end $$;
select forebay.permit_call('find_by_words(text, boolean, jsonb, int, int)', 'forebay_api', 'forebay_admin');
