-- Writes the file of share $1 of owner $2, with what was found in it: $3 is the file, $4 its hash, $5 its size, $6 its poster.
update forebay.share s set
    file_id = $3, sha256 = $4, size = $5, poster_id = coalesce($6, s.poster_id), file_removed_at = null,
    download_status = 'completed', download_completed_at = clock_timestamp(), download_error = null,
    kind = f.kind, duration_s = coalesce(f.duration_s, s.duration_s), width = coalesce(f.width, s.width),
    height = coalesce(f.height, s.height), video_codec = f.video_codec, audio_codec = f.audio_codec, container = f.container,
    title = coalesce(s.title, f.title),
    platform_data = s.platform_data || jsonb_build_object('downloadMetadata', f.download_metadata), updated_at = clock_timestamp()
from jsonb_to_record($7::jsonb) as f(
    kind text, duration_s double precision, width int, height int, video_codec text, audio_codec text, container text, title text,
    download_metadata jsonb)
where s.id = $1 and s.owner_id = $2 and exists (select from forebay.file x where x.id = $3)
