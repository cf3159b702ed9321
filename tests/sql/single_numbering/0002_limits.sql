-- What limits over all workers need to remember: one small row a limit and key, written once a slice, never once a task.
-- Only the primary keys are indexed and the pages are half empty, so that every update stays on its page.

-- Starts are spaced on one time line a key; workers lease stretches of it.
create table forebay.rate_limit (
    name    text not null,
    key     text not null,
    next_at timestamptz not null,     -- the first start that nobody has leased yet
    waiting int not null default 0,   -- tasks that were told to come back later, and have not been seen since
    primary key (name, key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Locked by whoever leases slots of that key: the sum over slot_lease cannot change meanwhile.
create table forebay.slot_limit (
    name    text not null,
    key     text not null,
    waiting int not null default 0,
    hold_s  real not null default 0.1, -- how long a slot is used, on average: tells the others when to come back
    seen_at timestamptz not null,
    primary key (name, key)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create table forebay.slot_lease (
    name       text not null,
    key        text not null,
    worker_id  bigint not null,
    slots      int not null,
    wanted     int not null,           -- more than slots: this worker is short, the others should share
    expires_at timestamptz not null,
    primary key (name, key, worker_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
