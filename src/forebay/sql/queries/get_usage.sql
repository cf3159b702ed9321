-- What owner $1 has open, and the owner's own limits.
select open.jobs, open.items, o.max_open_jobs, o.max_open_items, o.submits_per_minute
from forebay.owner o cross join lateral (
    select count(*) as jobs, coalesce(sum(j.total - j.done - j.skipped - j.not_found - j.error), 0)::bigint as items
    from forebay.job j where j.owner_id = o.id and j.finished_at is null) open
where o.id = $1
