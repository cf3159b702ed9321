-- Notes the delivery $3 of the source $2 for owner $1, for $4 seconds or for ever; nothing comes back when it was noted before.
insert into forebay.webhook_delivery (owner_id, source, key, kept_until)
values ($1, $2, $3, coalesce(clock_timestamp() + make_interval(secs => $4::float8), 'infinity'))
on conflict do nothing
returning true
