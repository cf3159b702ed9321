-- Lets everybody look things up in a catalogue of an owner's, or only that owner.
update forebay.catalogue set shared = $3 where owner_id = $1 and name = $2 returning id
