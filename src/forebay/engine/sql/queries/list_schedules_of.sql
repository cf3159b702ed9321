-- The schedules of the pipelines $1, and those with names $2.
select s.name from forebay.schedule s join forebay.pipeline p on p.id = s.pipeline_id
where p.name = any(cast($1 as text[])) or s.name = any(cast($2 as text[]))
order by s.name
