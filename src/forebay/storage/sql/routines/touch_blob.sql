-- Creates the blob, or postpones its collection by another grace period. Returns its life, whether its object is complete,
-- and the id for the new file.
create or replace function forebay.touch_blob(
    sha256 bytea, size bigint, media_type text, now timestamptz default null,
    out life bigint, out is_stored boolean, out file_id bigint
) language plpgsql as $$
#variable_conflict use_column
begin
    -- Always locked, but written at most once a minute: the same content may be put often.
    insert into forebay.blob as b (sha256, size, media_type, touched_at)
    values (touch_blob.sha256, touch_blob.size, touch_blob.media_type, coalesce(now, clock_timestamp()))
    on conflict (sha256) do update set touched_at = excluded.touched_at
        where b.touched_at is null or b.touched_at < excluded.touched_at - interval '1 minute';
    select b.life, b.stored_at is not null into life, is_stored from forebay.blob b where b.sha256 = touch_blob.sha256;
    file_id := nextval('forebay.file_id_seq');
end $$;
