-- Makes the row of a worker named $1 that knows the versions $3 of pipelines, runs the steps $4, and declares the schedules $5
-- (null: unknown).
insert into forebay.worker (name, started_at, seen_at, versions, steps, schedules)
values ($1, coalesce($2, clock_timestamp()), coalesce($2, clock_timestamp()), $3, $4, $5) returning id
