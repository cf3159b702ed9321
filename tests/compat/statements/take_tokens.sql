-- Takes tokens of rate limits.
select * from forebay.take_tokens($1, $2, $3, $4, $5, $6, $7, $8, $9) order by place
