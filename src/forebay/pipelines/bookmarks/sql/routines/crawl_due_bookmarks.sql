-- Submits jobs for bookmarks that are due, unless the last job has not ended, and sets when they are due again. Returns how
-- many were checked.
create or replace function forebay.crawl_due_bookmarks(max_rows int, now timestamptz default null) returns int
language plpgsql as $$
declare
    at constant timestamptz := coalesce(now, clock_timestamp());
    due record;
    looked_at int := 0;
begin
    for due in
        select b.id, b.owner_id, b.url, b.job_id from forebay.bookmark b
        where b.next_crawl_at <= at and b.archived_at is null and b.deleted_at is null
        order by b.next_crawl_at limit max_rows for update skip locked
    loop
        looked_at := looked_at + 1;
        update forebay.bookmark b set next_crawl_at = at + b.crawl_every where b.id = due.id;
        if not exists (select from forebay.job j where j.id = due.job_id and j.finished_at is null) then
            perform forebay.crawl_bookmark(due.owner_id, due.id, due.url, -10);
        end if;
    end loop;
    return looked_at;
end $$;
