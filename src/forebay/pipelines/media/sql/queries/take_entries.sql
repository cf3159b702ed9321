-- The entries of playlist $1 of owner $2 that have no file and that no job works on, in order. Their next job takes them.
with taken as (
    update forebay.share s set job_id = null, download_status = 'pending', download_error = null, updated_at = clock_timestamp()
    where s.playlist_id = $1 and s.owner_id = $2 and s.file_id is null
      and not exists (select from forebay.job j where j.id = s.job_id and j.finished_at is null)
    returning s.id, s.url, s.playlist_index
)
select t.id, t.url from taken t order by t.playlist_index
