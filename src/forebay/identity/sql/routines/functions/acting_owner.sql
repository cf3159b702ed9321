-- The owner that the API acts for, from the session; null if none is set.
create or replace function forebay.acting_owner() returns bigint language sql stable as $$
select nullif(current_setting('forebay.owner_id', true), '')::bigint
$$;
