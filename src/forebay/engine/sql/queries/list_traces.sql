-- The traces that these jobs belong to; jobs that belong to none are left out.
select j.id, j.trace from forebay.job j where j.id = any($1::bigint[]) and j.trace is not null
