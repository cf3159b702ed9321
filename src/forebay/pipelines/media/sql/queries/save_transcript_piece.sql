-- Stores a piece of the transcript of share $1 of owner $2, if it is there and job $3 works on it; one of another file or model is
-- replaced.
insert into forebay.transcript_piece (share_id, owner_id, sha256, model, start_ms, end_ms, is_last, language, segments)
select s.id, s.owner_id, $4, $5, $6, $7, $8, $9, $10::jsonb
from forebay.share s
where s.id = $1 and s.owner_id = $2 and s.job_id = $3
on conflict (share_id, start_ms) do update
    set sha256 = excluded.sha256, model = excluded.model, end_ms = excluded.end_ms, is_last = excluded.is_last,
        language = excluded.language, segments = excluded.segments, created_at = clock_timestamp()
