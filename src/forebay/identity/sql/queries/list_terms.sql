-- Lists the weight and the limits of each owner with an account.
select o.id, o.weight, o.max_open_jobs, o.max_open_items, o.submits_per_minute
from forebay.owner o join forebay.account a on a.owner_id = o.id
