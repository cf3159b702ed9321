-- The open jobs and items of an owner, and the owner's limits. Children do not count: nobody has submitted them.
create or replace function forebay.usage(
    owner_id bigint,
    out open_jobs bigint, out open_items bigint, out max_open_jobs int, out max_open_items bigint, out submits_per_minute int
) language sql stable as $$
select u.jobs, u.items, o.max_open_jobs, o.max_open_items, o.submits_per_minute
from forebay.owner o cross join lateral (
    select count(*) as jobs, coalesce(sum(j.total - j.done - j.skipped - j.not_found - j.error), 0)::bigint as items
    from forebay.job j where j.owner_id = o.id and j.finished_at is null and j.parent_id is null) u
where o.id = usage.owner_id
$$;
