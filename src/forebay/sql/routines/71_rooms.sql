-- How the API enters: with the role that its caller may have, and in the owner's name. Taken until the transaction ends, so
-- that it also holds where a pooler lends the session to others in between.

-- What comes after this in the same statement already runs with the role's rights. Returns the owner's name.
create or replace function forebay.enter(role text, owner_id bigint, ip text, out owner text) language plpgsql as $$
begin
    perform set_config('role', enter.role, true);
    owner := forebay.act_for(enter.owner_id, enter.ip);
end $$;

-- What an owner has open, and the owner's own limits.
create or replace function forebay.usage(
    owner_id bigint,
    out open_jobs bigint, out open_items bigint, out max_open_jobs int, out max_open_items bigint, out submits_per_minute int
) language sql stable as $$
select u.jobs, u.items, o.max_open_jobs, o.max_open_items, o.submits_per_minute
from forebay.owner o cross join lateral (
    select count(*) as jobs, coalesce(sum(j.total - j.done - j.skipped - j.not_found - j.error), 0)::bigint as items
    from forebay.job j where j.owner_id = o.id and j.finished_at is null) u
where o.id = usage.owner_id
$$;

-- The same as the owner sees it, in one statement.
create or replace function forebay.usage_for(
    role text, owner_id bigint,
    out open_jobs bigint, out open_items bigint, out max_open_jobs int, out max_open_items bigint, out submits_per_minute int
) language plpgsql as $$
begin
    perform forebay.enter(role, owner_id, null);
    select u.* into open_jobs, open_items, max_open_jobs, max_open_items, submits_per_minute
    from forebay.usage(owner_id) u;
end $$;
