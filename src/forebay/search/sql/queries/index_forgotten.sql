-- Submits jobs for up to $3 documents that model $1 does not have in their present version since $2; returns how many.
select count(forebay.index_document(s.owner_id, s.id, priority => -10))
from (select d.id, d.owner_id from forebay.search_document d
      where d.embeds and d.updated_at < $2 and not exists (
          select from forebay.search_indexed i where i.document_id = d.id and i.model_id = $1 and i.version >= d.version)
      order by d.id limit $3) s
