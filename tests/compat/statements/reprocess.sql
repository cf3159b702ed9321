-- Runs items again.
select forebay.reprocess($1, $2, $3, $4, $5, restart => $6)
