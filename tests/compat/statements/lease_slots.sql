-- Leases slots of concurrency limits.
select * from forebay.lease_slots($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) order by place
