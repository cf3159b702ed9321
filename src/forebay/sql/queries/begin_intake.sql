-- Submits the reading of a file that has come whole.
select forebay.begin_intake($1, $2)
