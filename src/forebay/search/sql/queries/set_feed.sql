-- Sets the token of the feed of saved search $1 of the acting owner; null: it has none.
update forebay.saved_search s set token_hash = $2 where s.id = $1 and s.owner_id = forebay.acting_owner() returning s.id
