-- A page of owners after id $1, whose names begin with $2, or only owner $4: weight, limits, and open work.
select o.id, o.name, o.weight, o.max_open_jobs, o.max_open_items, o.submits_per_minute, o.created_at, u.open_jobs, u.open_items
from (
    select * from forebay.owner w
    where w.id > $1 and starts_with(w.name, $2) and ($4::bigint is null or w.id = $4)
    order by w.id limit $3
) o
cross join lateral forebay.usage(o.id) u
order by o.id
