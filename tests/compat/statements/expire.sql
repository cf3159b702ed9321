-- Expires leases.
select * from forebay.expire($1)
