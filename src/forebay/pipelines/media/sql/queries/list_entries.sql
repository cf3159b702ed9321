-- The entries of playlist $1 of owner $2 that have no file, and that no other job works on, in order.
select s.id, s.url from forebay.share s
where s.playlist_id = $1 and s.owner_id = $2 and s.file_id is null
  and not exists (select from forebay.job j where j.id = s.job_id and j.finished_at is null)
order by s.playlist_index
