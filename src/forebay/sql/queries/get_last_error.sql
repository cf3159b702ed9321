-- What a job last failed on; by name, as a schema of before has no such column.
select to_jsonb(j) ->> 'last_error' from forebay.jobs j where j.id = cast($1 as bigint)
