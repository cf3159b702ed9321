-- Submits an export of the grid of job $1 in format $2, with options $3, and returns its job.
select forebay.export_sheet($1, $2::text, $3::text::jsonb, $4::text)
