-- Which steps of which lanes need no wake-ups. It takes the place of the column `busy_until` of `lane`, with which the backlog
-- of one pipeline silenced the wake-ups of all other pipelines of the same owner; that column stays, unused (decision 0049). A
-- hint only, so it is not logged: it is empty after a crash.
create unlogged table forebay.busy_lane (
    lane_id bigint not null,
    step_id int not null,
    until   timestamptz not null,  -- workers are processing the backlog: no wake-up needed
    primary key (lane_id, step_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
