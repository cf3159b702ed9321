-- The saved search whose feed has this token; for readers of feeds, who are not signed in.
create or replace function forebay.saved_search_of(token_hash bytea) returns table (id bigint, owner_id bigint, name text, question jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
select s.id, s.owner_id, s.name, s.question from forebay.saved_search s where s.token_hash = saved_search_of.token_hash
$$;
select forebay.permit_call('saved_search_of(bytea)', 'forebay_api');
