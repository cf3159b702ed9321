-- Replaces the preferences of owner $1.
insert into forebay.preferences as p (owner_id, value) values ($1, cast(cast($2 as text) as json))
on conflict (owner_id) do update set value = excluded.value, updated_at = clock_timestamp()
returning p.value::text as value, p.updated_at
