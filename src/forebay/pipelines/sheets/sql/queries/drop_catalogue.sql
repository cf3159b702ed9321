-- Deletes a catalogue of an owner's with all that is in it.
delete from forebay.catalogue where owner_id = $1 and name = $2 returning id
