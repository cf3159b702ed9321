-- Lets jobs of unserved versions go on by the present one.
select forebay.adopt_jobs($1, $2)
