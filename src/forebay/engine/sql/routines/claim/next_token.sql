-- A fencing token. The milliseconds in front of the number keep tokens apart, and in order, where a sequence alone would
-- give some out twice: after a failover to a replica that had not heard of the last ones.
create or replace function forebay.next_token() returns bigint language sql as $$
select ((date_part('epoch', clock_timestamp()) * 1000)::bigint << 20) | (nextval('forebay.token') & 1048575)
$$;
