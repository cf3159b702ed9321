-- Deletes a catalogue of an owner and its products.
delete from forebay.catalogue where owner_id = $1 and name = $2 returning id
