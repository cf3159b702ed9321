-- Adds an imported bookmark and submits its job.
select id from forebay.import_bookmark(
    $1::bigint, $2::text, $3::bytea, $4::text, $5::text, $6::text[], $7::text, $8::timestamptz, $9::boolean, $10::boolean)
