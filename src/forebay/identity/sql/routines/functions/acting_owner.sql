-- The owner that the API acts for, as the session says; null when it acts for nobody.
create or replace function forebay.acting_owner() returns bigint language sql stable as $$
select nullif(current_setting('forebay.owner_id', true), '')::bigint
$$;
