-- Finds or adds model $1 with $2 dimensions.
select m.id, m.state, m.created from forebay.open_search_model($1, $2) m
