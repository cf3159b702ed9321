-- The first fencing token of a moment.
create or replace function forebay.token_at(moment timestamptz) returns bigint language sql stable as $$
select (date_part('epoch', moment) * 1000)::bigint << 20
$$;
