-- How a schedule runs.
alter table forebay.schedule
    add column declared boolean not null default false,  -- by the code of a pipeline: removed when the code no longer has it
    add column overlap  boolean not null default true,   -- whether a run starts while the job of the last one is open
    add column jitter_s float8 not null default 0,       -- a run starts up to so many seconds late, at random
    add column backfill boolean not null default false;  -- whether each missed run is submitted, or one for all
