-- Counts what is stored, by owner and kind and in total, and keeps the numbers.
create or replace function forebay.count_storage(now timestamptz default null) returns void language plpgsql as $$
begin
    delete from forebay.storage_usage;
    insert into forebay.storage_usage (owner_id, kind, files, bytes)
    select c.owner_id, c.kind, sum(c.files), sum(b.size)
    from (
        select f.owner_id, f.sha256, count(*) as files,
               min(case when f.media_type ~ '^(image|video|audio|text)/' then split_part(f.media_type, '/', 1) else f.media_type end) as kind
        from forebay.file f group by f.owner_id, f.sha256
    ) c
    join forebay.blob b on b.sha256 = c.sha256
    group by c.owner_id, c.kind;
    delete from forebay.storage_total;
    insert into forebay.storage_total (counted_at, blobs, bytes, loose_blobs, loose_bytes, waste, waste_bytes)
    select coalesce(now, clock_timestamp()), count(*), coalesce(sum(b.size), 0),
           count(*) filter (where not b.has_files), coalesce(sum(b.size) filter (where not b.has_files), 0),
           (select count(*) from forebay.waste), coalesce((select sum(w.size) from forebay.waste w), 0)
    from (select s.size, exists (select from forebay.file f where f.sha256 = s.sha256) as has_files from forebay.blob s) b;
end $$;
