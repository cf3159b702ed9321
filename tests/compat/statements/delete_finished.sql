-- Deletes old jobs.
select forebay.delete_finished($1, $2, of_pipelines => $3, but_pipelines => $4)
