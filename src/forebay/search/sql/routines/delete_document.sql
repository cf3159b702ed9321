-- Deletes a document with its vectors, in the transaction of the caller; returns whether it was there.
create or replace function forebay.delete_document(owner_id bigint, kind text, ref text) returns boolean language plpgsql as $$
begin
    delete from forebay.search_document d
    where d.owner_id = delete_document.owner_id and d.kind = delete_document.kind and d.ref = delete_document.ref;
    return found;
end $$;
