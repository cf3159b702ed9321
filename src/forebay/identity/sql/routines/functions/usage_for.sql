-- The same with the owner's role, in one statement.
create or replace function forebay.usage_for(
    role text, owner_id bigint,
    out open_jobs bigint, out open_items bigint, out max_open_jobs int, out max_open_items bigint, out submits_per_minute int
) language plpgsql as $$
begin
    perform forebay.enter(role, owner_id, null);
    select u.* into open_jobs, open_items, max_open_jobs, max_open_items, submits_per_minute
    from forebay.usage(owner_id) u;
end $$;
