-- Adds a share of a link, and submits its job.
create or replace function forebay.add_share(
    owner_id bigint, url text, title text, priority int, trace text default null, out id bigint, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    insert into forebay.share as s (owner_id, url, priority, title, platform_data)
    values (add_share.owner_id, add_share.url, add_share.priority, add_share.title,
            jsonb_build_object('originalMediaUrl', add_share.url))
    returning s.id into id;
    job_id := forebay.submit_share(add_share.owner_id, id, add_share.url, add_share.priority, trace);
end $$;
