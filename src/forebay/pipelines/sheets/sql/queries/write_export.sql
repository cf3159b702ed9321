-- Records file $2 with $3 rows as the result of export job $1. It replaces an earlier file after a reprocess.
with export as (
    select e.job_id, e.sheet_id, e.owner_id, e.file_id from forebay.sheet_export e where e.job_id = $1 for update),
written as (
    update forebay.sheet_export e set file_id = $2, rows = $3, written_at = clock_timestamp()
    from export x where e.job_id = x.job_id),
forgotten as (delete from forebay.sheet_file k using export x where k.file_id = x.file_id),
gone as (delete from forebay.file f using export x where f.id = x.file_id)
insert into forebay.sheet_file (file_id, sheet_id, owner_id) select $2, x.sheet_id, x.owner_id from export x
