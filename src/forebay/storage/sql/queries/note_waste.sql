-- Marks an object for deletion whose blob was collected during the upload.
insert into forebay.waste (sha256, life, size, at) values ($1, $2, $3, coalesce($4, clock_timestamp()))
on conflict do nothing
