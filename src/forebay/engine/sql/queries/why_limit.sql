-- How much of the key $2 of the limit $1 is in use at the time $3.
select u.in_use, u.next_at from forebay.limit_use($1, $2, $3) u
