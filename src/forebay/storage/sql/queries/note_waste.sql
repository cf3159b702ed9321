-- An object that was uploaded for nothing, as its blob was collected meanwhile: it is to be deleted.
insert into forebay.waste (sha256, life, size, at) values ($1, $2, $3, coalesce($4, clock_timestamp()))
on conflict do nothing
