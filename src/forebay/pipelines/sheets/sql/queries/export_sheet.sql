-- Submits the writing of the grid of job $1 as a file of kind $2, with options $3, and answers the job that does it.
select forebay.export_sheet($1, $2::text, $3::text::jsonb, $4::text)
