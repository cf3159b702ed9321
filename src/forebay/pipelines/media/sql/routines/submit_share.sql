-- Submits a job for a share, which becomes the job of the share. Returns it.
create or replace function forebay.submit_share(owner_id bigint, share_id bigint, url text, priority int, trace text default null)
returns bigint language plpgsql as $$
declare
    owner text;
    submitted bigint;
begin
    select o.name into strict owner from forebay.owner o where o.id = submit_share.owner_id;
    select s.job_id into submitted from forebay.submit(
        forebay.traced('media', trace), jsonb_build_object('shareId', share_id::text, 'url', url), owner, null, priority, null, false,
        jsonb_build_object('shareId', share_id::text)) s;
    update forebay.share s set job_id = submitted, item_n = 1, updated_at = clock_timestamp() where s.id = share_id;
    return submitted;
end $$;
