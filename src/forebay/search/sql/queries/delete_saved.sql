-- Deletes saved search $1 of the acting owner.
delete from forebay.saved_search s where s.id = $1 and s.owner_id = forebay.acting_owner() returning s.id
