-- Puts a product into a catalogue, unless a later row about it is there already.
select forebay.put_product($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
