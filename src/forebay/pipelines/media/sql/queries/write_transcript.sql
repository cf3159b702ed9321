-- Stores the transcript of share $1 of owner $2, and deletes its pieces.
with pieces as (
    delete from forebay.transcript_piece where share_id = $1 and owner_id = $2
), of_share as (
    update forebay.share set transcript_status = 'completed', transcript_error = null, updated_at = clock_timestamp()
    where id = $1 and owner_id = $2
    returning id, owner_id
)
insert into forebay.transcript (share_id, owner_id, language, source, model, segments, text)
select id, owner_id, $3, $4, $5, $6::jsonb, $7 from of_share
on conflict (share_id) do update
    set language = excluded.language, source = excluded.source, model = excluded.model, segments = excluded.segments,
        text = excluded.text, created_at = clock_timestamp()
