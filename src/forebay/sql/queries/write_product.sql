-- Puts a product into a catalogue.
select forebay.put_product($1, $2, $3, $4, $5, $6, $7, $8)
