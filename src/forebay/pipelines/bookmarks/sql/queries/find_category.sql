-- Finds the category of owner $1 with the id $2, or with the name $3, whatever its case.
select c.id from forebay.category c where c.owner_id = $1 and (c.id = $2::bigint or lower(c.name) = lower($3::text)) limit 1
