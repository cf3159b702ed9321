-- Searches with model $1, if it has all documents, or $2; returns how many it lacks.
select forebay.activate_search_model($1, $2)
