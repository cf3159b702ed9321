-- Writes the chunks of a version of a document that a model has embedded. Returns false, and writes nothing, if the document is
-- deleted, or the model has embedded this version or a newer one already.
-- places: which of the vectors a chunk has, from 1 on; 0 for a chunk that is stored already. If such a one was deleted meanwhile,
-- the step that calls this has to run again: that is what a serialization failure says.
create or replace function forebay.write_chunks(
    document_id bigint, model_id int, version bigint, hashes bytea[], starts int[], stops int[], seconds real[],
    places int[], vectors real[], dimensions int
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    owner constant bigint := (
        select d.owner_id from forebay.search_document d where d.id = write_chunks.document_id for key share);
    is_first boolean;
begin
    if owner is null or not exists (select from forebay.search_model m where m.id = write_chunks.model_id) then
        return false;
    end if;
    insert into forebay.search_indexed as i (document_id, model_id, owner_id, version)
    values (write_chunks.document_id, write_chunks.model_id, owner, write_chunks.version)
    on conflict (document_id, model_id) do update set version = excluded.version, indexed_at = clock_timestamp()
    where i.version < excluded.version
    returning i.xmax = 0 into is_first;  -- inserted, not updated
    if not found then
        return false;
    end if;
    delete from forebay.search_chunk c
    where c.model_id = write_chunks.model_id and c.document_id = write_chunks.document_id and c.hash <> all(hashes);
    if not is_first or 0 = any (places) then  -- a first write may find chunks, written while the document was forgotten
        -- Rows whose vectors stay are changed in place, without a new entry in the index of vectors.
        update forebay.search_chunk c set starts = n.starts, stops = n.stops, second = n.second
        from unnest(hashes, write_chunks.starts, write_chunks.stops, seconds) n(hash, starts, stops, second)
        where c.model_id = write_chunks.model_id and c.document_id = write_chunks.document_id and c.hash = n.hash
          and (c.starts, c.stops, c.second) is distinct from (n.starts, n.stops, n.second);
    end if;
    insert into forebay.search_chunk (model_id, document_id, owner_id, hash, starts, stops, second, embedding)
    select write_chunks.model_id, write_chunks.document_id, owner, n.hash, n.starts, n.stops, n.second,
           vectors[(n.place - 1) * dimensions + 1 : n.place * dimensions]
    from unnest(hashes, write_chunks.starts, write_chunks.stops, seconds, places) n(hash, starts, stops, second, place)
    where n.place > 0
    on conflict do nothing;
    if (not is_first or 0 = any (places)) and (select count(*) from forebay.search_chunk c
        where c.model_id = write_chunks.model_id and c.document_id = write_chunks.document_id) <> cardinality(hashes) then
        raise exception 'another version of document % was written meanwhile', document_id using errcode = 'serialization_failure';
    end if;
    return true;
end $$;
