-- How many partitions of attempt have only rows that are older than $2.
select count(*) from forebay.old_partitions(coalesce(cast($1 as timestamptz), clock_timestamp()) - cast($2 as interval))
