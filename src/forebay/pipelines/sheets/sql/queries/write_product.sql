-- Stores a product in a catalogue, unless a later row has stored it already.
select forebay.put_product($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
