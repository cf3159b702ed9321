-- Makes a job that has no items yet one of another pipeline.
select forebay.change_pipeline($1, $2)
