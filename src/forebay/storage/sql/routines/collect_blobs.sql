-- Turns some blobs that no file refers to, and that were not touched within the grace period, into waste.
-- Referenced content is never lost, because
--   a put touches the blob before it uploads, and blobs touched within the grace period are not collected;
--   collecting locks the blob, so that no new file can refer to it, then looks for files, and then deletes it;
--   the object of a collected blob is deleted by its key, which no later blob has.
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
    -- A separate statement: it sees the files of all earlier holders of the lock.
    with gone as (
        delete from forebay.blob b
        where b.sha256 = any(locked) and not exists (select from forebay.file f where f.sha256 = b.sha256)
        returning b.sha256, b.life, b.size)
    insert into forebay.waste (sha256, life, size, at)
    select g.sha256, g.life, g.size, coalesce(now, clock_timestamp()) from gone g;
    get diagnostics collected = row_count;
    update forebay.blob b set touched_at = null where b.sha256 = any(locked);
end $$;
