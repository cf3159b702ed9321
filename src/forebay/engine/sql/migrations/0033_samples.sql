-- Samples of the last hour, one a minute: what the controllers of each step decided, and how the owners shared the workers.
create table forebay.controller_sample (
    minute      timestamptz not null,
    step_id     int not null,
    running     int not null,
    concurrency real not null,  -- summed over the workers, as the claim size
    claim_size  real not null,
    item_ms     real,
    lease_s     real,
    primary key (minute, step_id)
);

create table forebay.owner_sample (
    minute         timestamptz not null,
    owner_id       bigint not null,
    ready          bigint not null,
    running        bigint not null,
    attempts_per_s real not null,
    fair_share     real not null,
    primary key (minute, owner_id)
);
