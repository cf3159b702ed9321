-- Sets the limits of owner $1 that are named in $2 (null: as in the settings); records $3 in the audit when one changes.
with wanted as (
    select o.id,
           case when $2::jsonb ? 'max_open_jobs' then ($2::jsonb ->> 'max_open_jobs')::int else o.max_open_jobs end as jobs,
           case when $2::jsonb ? 'max_open_items' then ($2::jsonb ->> 'max_open_items')::bigint else o.max_open_items end as items,
           case when $2::jsonb ? 'submits_per_minute' then ($2::jsonb ->> 'submits_per_minute')::int
                else o.submits_per_minute end as submits
    from forebay.owner o where o.id = $1 for update
),
changed as (
    update forebay.owner o set max_open_jobs = w.jobs, max_open_items = w.items, submits_per_minute = w.submits
    from wanted w
    where o.id = w.id
      and (o.max_open_jobs, o.max_open_items, o.submits_per_minute) is distinct from (w.jobs, w.items, w.submits)
    returning o.id
)
select forebay.note($3, 'set_owner_limits', c.id, null, null, $2::jsonb, clock_timestamp()) from changed c
