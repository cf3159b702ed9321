-- Blobs and the files that refer to them. Nothing that is referred to is ever lost, because
--   a put touches the blob before it uploads, and nothing that was touched within the grace period is collected;
--   collecting locks the blob, so that no file can begin to refer to it, looks for files after that, and deletes it;
--   the object of a blob that was collected is deleted by its key, which no later blob ever has.

-- Makes the blob, or keeps it from being collected for another grace period. Answers its life, whether its object is there,
-- and the number that the file will have.
create or replace function forebay.touch_blob(
    sha256 bytea, size bigint, media_type text, now timestamptz default null,
    out life bigint, out is_stored boolean, out file_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    -- Locked in any case, but written once a minute only: many may put the same at once.
    insert into forebay.blob as b (sha256, size, media_type, touched_at)
    values (touch_blob.sha256, touch_blob.size, touch_blob.media_type, coalesce(now, clock_timestamp()))
    on conflict (sha256) do update set touched_at = excluded.touched_at
        where b.touched_at is null or b.touched_at < excluded.touched_at - interval '1 minute';
    select b.life, b.stored_at is not null into life, is_stored from forebay.blob b where b.sha256 = touch_blob.sha256;
    file_id := nextval('forebay.file_id_seq');
end $$;

-- Turns some blobs that nobody has touched for the grace period, and that no file refers to, into waste.
create or replace function forebay.collect_blobs(
    grace interval, now timestamptz default null, max_rows int default 1000, out looked_at int, out collected int
) language plpgsql as $$
declare
    locked bytea[] := array(
        select b.sha256 from forebay.blob b
        where b.touched_at < coalesce(now, clock_timestamp()) - grace
        order by b.touched_at limit max_rows
        for update skip locked);
begin
    looked_at := cardinality(locked);
    -- A statement of its own: it sees the files of all who had the lock before.
    with gone as (
        delete from forebay.blob b
        where b.sha256 = any(locked) and not exists (select from forebay.file f where f.sha256 = b.sha256)
        returning b.sha256, b.life, b.size)
    insert into forebay.waste (sha256, life, size, at)
    select g.sha256, g.life, g.size, coalesce(now, clock_timestamp()) from gone g;
    get diagnostics collected = row_count;
    update forebay.blob b set touched_at = null where b.sha256 = any(locked);
end $$;

-- The sweep has to look again at blobs whose files are deleted, whoever deletes them. Locked first: a sweep that still sees the
-- files would say at the same time that there is nothing to look at.
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
