-- Makes what is said in share $1 of owner $2 searchable.
update forebay.share s set spoken = left(t.text, 120000), language = coalesce(t.language, s.language), updated_at = clock_timestamp()
from forebay.transcript t
where s.id = $1 and s.owner_id = $2 and t.share_id = s.id
