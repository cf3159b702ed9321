-- Adds or changes a document of owner $1; the parameters are those of put_document().
select p.id, p.version, p.changed
from forebay.put_document($1, $2, $3, $4, $5, $6, $7, $8::text[], $9::timestamptz, $10::text::jsonb, $11::text::jsonb, $12::bigint,
                          $13, $14, $15::interval, $16::interval, $17) p
