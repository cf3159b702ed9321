-- Finds products with this GTIN in the catalogues that an owner may use.
select p.id, c.name as catalogue, p.fields
from forebay.product p join forebay.catalogue c on c.id = p.catalogue_id
where p.gtin = $2 and (c.owner_id = $1 or c.shared)
order by p.id limit $3
