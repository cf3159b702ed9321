-- Deletes model $1 and its vectors, if it is neither active nor building.
select forebay.drop_search_model($1)
