-- Renews leases.
select * from forebay.heartbeat($1, $2, $3, $4)
