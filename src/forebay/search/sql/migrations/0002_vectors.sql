-- with the extension vector
-- Vectors of the chunks of documents: a partition for each model, which open_search_model() creates with its HNSW index.

create extension if not exists vector schema public;

do $$ begin
    execute format('
    create table forebay.search_chunk (
        model_id    int not null references forebay.search_model on delete cascade,
        document_id bigint not null references forebay.search_document on delete cascade,
        owner_id    bigint not null,
        hash        bytea not null,
        starts      int not null,
        stops       int not null,
        second      real,
        embedding   %s.halfvec not null
    ) partition by list (model_id)',
    (select e.extnamespace::regnamespace::text from pg_extension e where e.extname = 'vector'));
end $$;
-- It begins with the document, because deleting one deletes its chunks of all models.
create unique index search_chunk_of on forebay.search_chunk (document_id, model_id, hash);
create index search_chunk_owner on forebay.search_chunk (owner_id, document_id);
-- Also with the routines, which are not replaced when the extension comes later.
select forebay.own('search_chunk', 'select');
