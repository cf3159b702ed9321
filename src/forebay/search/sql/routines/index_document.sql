-- Submits the job that indexes a document, or postpones the one that has not begun. Without the pipeline `index` in this database,
-- the document waits for the chore that finds what is not indexed.
create or replace function forebay.index_document(
    owner_id bigint, document_id bigint, delay interval default '1 second', max_wait interval default '15 seconds',
    priority int default 0
) returns bigint language plpgsql as $$
begin
    if not exists (select from forebay.pipeline p where p.name = 'index') then
        return null;
    end if;
    return (forebay.submit(
        'index', jsonb_build_object('document', document_id::text), (select o.name from forebay.owner o where o.id = owner_id),
        'document ' || document_id, priority, clock_timestamp() + delay, true, max_wait => max_wait)).job_id;
end $$;
