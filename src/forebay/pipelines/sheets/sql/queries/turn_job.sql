-- Makes a job that has no items yet one of another pipeline.
select forebay.turn_job($1, $2)
