-- Makes the row of a worker named $1 that knows the versions $3 of pipelines and runs the steps $4.
insert into forebay.worker (name, started_at, seen_at, versions, steps)
values ($1, coalesce($2, clock_timestamp()), coalesce($2, clock_timestamp()), $3, $4) returning id
