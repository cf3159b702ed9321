-- Closes the rows of dead workers.
select forebay.close_workers($1)
