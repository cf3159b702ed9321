-- Ranges of ids of documents that model $1 does not have in their present version, $2 documents each.
select min(s.id) as first, max(s.id) as last
from (select d.id, (row_number() over (order by d.id) - 1) / $2::int as part
      from forebay.search_document d
      where d.embeds and not exists (
          select from forebay.search_indexed i where i.document_id = d.id and i.model_id = $1 and i.version >= d.version)) s
group by s.part order by s.part
