-- Makes garbage collection check blobs whose files are deleted, by whatever statement. Locks them first: a concurrent
-- collection that still sees the files would clear the mark.
create or replace function forebay.touch_blobs_of_deleted() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
    perform from forebay.blob b where b.sha256 in (select g.sha256 from gone g) order by b.sha256 for no key update;
    update forebay.blob b set touched_at = clock_timestamp()
    where b.touched_at is null and b.sha256 in (select g.sha256 from gone g);
    return null;
end $$;

create or replace trigger touch_blobs_of_deleted after delete on forebay.file
    referencing old table as gone for each statement execute function forebay.touch_blobs_of_deleted();
