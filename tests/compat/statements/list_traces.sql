-- The traces of these jobs; jobs without a trace are omitted.
select j.id, j.trace from forebay.job j where j.id = any($1::bigint[]) and j.trace is not null
