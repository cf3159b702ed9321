-- Lists the pieces of share $1 of owner $2 that model $4 has transcribed from the file $3, in order.
select start_ms, end_ms, is_last, language, segments
from forebay.transcript_piece
where share_id = $1 and owner_id = $2 and sha256 = $3 and model = $4
order by start_ms
