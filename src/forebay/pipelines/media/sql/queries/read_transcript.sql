-- Reads the transcript of share $1, with the title of the share.
select t.share_id, t.language, t.source, t.model, t.segments, t.created_at, s.title
from forebay.transcript t
join forebay.share s on s.id = t.share_id
where t.share_id = $1
