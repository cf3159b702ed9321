-- The limits and keys of those of these lanes in which tasks wait for a key.
create or replace function forebay.limit_keys(lanes bigint[]) returns table (lane_id bigint, limit_name text, limit_key text)
language sql stable as $$
select l.id, l.limit_name, l.limit_key from forebay.lane l where l.id = any(lanes) and l.limit_name <> ''
$$;
