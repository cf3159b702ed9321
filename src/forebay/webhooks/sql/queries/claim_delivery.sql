-- Notes the delivery $3 of the source $2 for owner $1; nothing comes back when it was noted before.
insert into forebay.webhook_delivery (owner_id, source, key) values ($1, $2, $3)
on conflict do nothing
returning true
