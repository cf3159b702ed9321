-- Writes the progress of running tasks.
select forebay.report_progress($1, $2, $3, $4)
