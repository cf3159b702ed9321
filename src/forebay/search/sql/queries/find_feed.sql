-- The saved search whose feed has the token with hash $1.
select s.id, s.owner_id, s.name, s.question from forebay.saved_search_of($1) s
