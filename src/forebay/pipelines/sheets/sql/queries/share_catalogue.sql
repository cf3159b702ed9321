-- Shares a catalogue of an owner with all owners, or stops sharing it.
update forebay.catalogue set shared = $3 where owner_id = $1 and name = $2 returning id
