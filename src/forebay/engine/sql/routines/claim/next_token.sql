-- A fencing token. The milliseconds before the sequence number keep tokens unique and ordered where a sequence alone would
-- repeat some: after a failover to a replica that had not received the last ones.
create or replace function forebay.next_token() returns bigint language sql as $$
select ((date_part('epoch', clock_timestamp()) * 1000)::bigint << 20) | (nextval('forebay.token') & 1048575)
$$;
