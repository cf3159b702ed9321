-- Submits a job for a bookmark: for all steps, or for those in `only`. Returns the job.
create or replace function forebay.crawl_bookmark(
    owner_id bigint, bookmark_id bigint, url text, priority int default 0, is_image boolean default false,
    favicon text default null, trace text default null, only_steps text[] default null, key text default null
) returns bigint language plpgsql as $$
declare
    owner text;
    submitted bigint;
begin
    select o.name into strict owner from forebay.owner o where o.id = crawl_bookmark.owner_id;
    select s.job_id into submitted from forebay.submit(
        forebay.traced('bookmarks', trace),
        jsonb_strip_nulls(jsonb_build_object('bookmarkId', bookmark_id, 'url', url, 'userId', owner, 'favIcon', favicon,
                                             'isImage', is_image, 'only', to_jsonb(only_steps))),
        owner, key, priority, null, false, jsonb_build_object('bookmarkId', bookmark_id::text)) s;
    update forebay.bookmark b set job_id = submitted where b.id = bookmark_id;
    return submitted;
end $$;
