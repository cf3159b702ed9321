-- The number of the owner of this name, who is made when there is none.
select forebay.owner_id($1)
