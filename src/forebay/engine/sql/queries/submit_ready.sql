-- Submits one item as one job without a key, ready at once, in the caller's transaction. Null, with nothing stored: that is not
-- possible, and submit_item does it, or rejects it.
select forebay.submit_ready(
    forebay.traced(cast($1 as text), cast($6 as text)), cast(cast($2 as text) as jsonb), cast($3 as text), cast($4 as int),
    cast(cast($5 as text) as jsonb)) as job_id
