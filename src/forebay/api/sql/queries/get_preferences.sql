-- The preferences of owner $1.
select p.value::text as value, p.updated_at from forebay.preferences p where p.owner_id = $1
