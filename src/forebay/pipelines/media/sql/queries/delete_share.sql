-- Deletes share $1 with its files, entries and transcript; returns its job and item, whether that is open, and whether the job is
-- that of a whole playlist.
delete from forebay.share s where s.id = $1
returning s.job_id, s.item_n, s.playlist_id is not null as is_entry,
          exists (select from forebay.job j where j.id = s.job_id and j.finished_at is null) as is_open
