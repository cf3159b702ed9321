-- For each of the words that no document of the owner in forebay.owner_id has, the most similar one that some have.
create or replace function forebay.similar_words(words text[]) returns table (word text, similar_word text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
set enable_seqscan = off set pg_trgm.similarity_threshold = 0.3 as $$
begin
    return query execute format('
        select w.word, s.word from unnest($1) w(word)
        cross join lateral (
            select k.word from forebay.search_word k
            where k.owner_id = $2 and k.word operator(%1$s.%%) w.word
            order by %1$s.similarity(k.word, w.word) desc, k.word limit 1) s
        where not exists (select from forebay.search_word k where k.owner_id = $2 and k.word = w.word)',
        (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'))
    using words, forebay.acting_owner();
end $$;
select forebay.permit_call('similar_words(text[])', 'forebay_api', 'forebay_admin');
