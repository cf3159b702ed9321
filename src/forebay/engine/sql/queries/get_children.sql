-- The children of the job $1, all together; null if there are none.
select forebay.children_of($1)::text
