-- Adds the share of a file that owner $1 uploads for job $2.
insert into forebay.share (owner_id, job_id, title, platform_data)
select $1, $2, left($3::text, 1000), jsonb_build_object('fileName', left($3::text, 1000))
