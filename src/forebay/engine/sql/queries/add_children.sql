-- Counts $4 children that were stored in the job $3 for the task $2 of lease $1; false if the task was lost.
select forebay.add_children($1, $2, $3, $4)
