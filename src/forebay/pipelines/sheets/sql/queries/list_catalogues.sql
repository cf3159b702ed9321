-- Lists the catalogues that the caller may see, with their sizes; the owner of a shared one is not shown to all.
select c.id, c.name, o.name as owner, c.shared, c.created_at, p.products, p.updated_at
from forebay.catalogue c left join forebay.owner o on o.id = c.owner_id
cross join lateral (
    select count(*) as products, max(p.updated_at) as updated_at from forebay.product p where p.catalogue_id = c.id) p
where cast($1 as bigint) is null or c.owner_id = $1 or c.shared
order by c.name, o.name, c.id
