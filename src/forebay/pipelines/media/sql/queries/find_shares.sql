-- The newest shares with states $1, kinds $2, of playlist $3, with words $4, before $5: at most $6 ids.
select forebay.match_shares($1, $2, $3, $4, $5, $6)
