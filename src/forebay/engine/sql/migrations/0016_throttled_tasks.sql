-- How long a task has been throttled by a remote service without a break: its attempts need not be read again at each throttle.
create table forebay.throttled_task (
    job_id    bigint not null,
    n         int not null,
    step_id   int not null,
    owner_id  bigint not null,
    attempt   smallint not null,          -- another number is a break: an attempt ended with another outcome
    waited_s  float8 not null default 0,
    last_at   timestamptz not null,       -- when it was throttled last
    longest_s float8 not null,            -- how much of the time until the next attempt counts
    primary key (job_id, n, step_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
