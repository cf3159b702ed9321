-- How many items have ended and how, by owner and pipeline, as small additions that the sweep folds: whoever ends items adds
-- a row and waits for nobody. The sum counts.
create table forebay.tally (
    owner_id    bigint not null,
    pipeline_id int not null,
    done        bigint not null default 0,
    skipped     bigint not null default 0,
    not_found   bigint not null default 0,
    error       bigint not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
