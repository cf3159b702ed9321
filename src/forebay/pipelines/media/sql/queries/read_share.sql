-- Reads what steps need of share $1 of owner $4, or of the share of job $2; a share without a job gets item $3 of this one.
with taken as (
    update forebay.share s set job_id = $2, item_n = $3
    where s.id = $1 and s.owner_id = $4 and s.job_id is null
)
select s.id, s.owner_id, s.url, s.title, s.kind, s.language, s.duration_s, s.file_id, s.poster_id, encode(f.sha256, 'hex') as sha256,
       f.media_type, s.size, coalesce(s.job_id, $2) as job_id, s.playlist_id, s.transcript_status
from forebay.share s
left join forebay.file f on f.id = s.file_id
where s.owner_id = $4 and (s.id = $1 or ($1::bigint is null and s.job_id = $2))
limit 1
