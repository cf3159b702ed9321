-- Keeps the mapping of the sheet of job $1 for files with the same columns.
select forebay.keep_preset($1)
