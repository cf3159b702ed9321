-- Titles are suggested while somebody types, also with a typing error: by trigrams.

create extension if not exists pg_trgm schema public;
do $$ begin
    execute format('create index bookmark_title on forebay.bookmark using gin (lower(coalesce(own_title, title)) %s.gin_trgm_ops)',
                   (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'pg_trgm'));
end $$;
