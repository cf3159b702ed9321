-- The same as submit_item for the owner with id $14, calling from address $15, with the rights of role $16, in one statement:
-- the name of the owner comes out of the call that says who acts, so that one is made first.
select s.job_id, s.created
from forebay.enter($16, $14, $15) a cross join lateral forebay.submit(
    forebay.traced($1, $10), $2::text::jsonb, case when $3::text = a.owner then a.owner end, $4::text, $5::int,
    coalesce($6::timestamptz, clock_timestamp() + make_interval(secs => $7::float8)), $8::boolean, $9::text::jsonb,
    max_wait => make_interval(secs => $11::float8), unique_states => $12::text[]::forebay.job_state[],
    unique_period => make_interval(secs => $13::float8)) s
