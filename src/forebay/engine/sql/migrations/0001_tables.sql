-- The tables of the engine.
-- formerly 0001
--
--   submit ─► job, item ─► ready ──claim──► lease ──settle──► item, attempt, job counters
--                            ▲  ▲             │  │
--                  promote   │  └── expire ───┘  └─ retry, snooze ─► scheduled ─┐
--                            └─────────────────────────────────────────────────┘
--
-- Cold: owner, pipeline, step, job, item, attempt, dead_letter, audit.   Hot: lane, ready, scheduled, lease.
--
-- An item is (job_id, n): n counts the items of a job from 1, so a bulk submit of a million rows is one COPY
-- and a thousand *runs*. A run is one hot row that stands for the tasks (job_id, first_n … last_n) of one step;
-- claims cut as much from a run as they can use. n = 0 is the job's own item, on which `after_all` steps run.

create type forebay.job_state as enum ('QUEUED', 'RUNNING', 'PAUSED', 'DONE', 'FAILED', 'CANCELLED');

-- Ordered from best to worst: the verdict over an item is the greatest of its steps'.
create type forebay.item_status as enum ('PENDING', 'PROCESSING', 'DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR');

create type forebay.outcome as enum (
    'DONE', 'SKIPPED', 'NOT_FOUND', 'ERROR', 'CANCELLED',   -- these may end a step
    'SNOOZED', 'THROTTLED', 'RELEASED', 'EXPIRED'           -- these never do
);

create table forebay.owner (
    id         bigint generated always as identity primary key,
    name       text not null unique check (length(name) between 1 and 200),
    weight     real not null default 1 check (weight between 0.01 and 1000),
    created_at timestamptz not null default clock_timestamp()
);

create table forebay.pipeline (
    id              int generated always as identity primary key,
    name            text not null unique check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    steps           bigint not null default 0,   -- mask of the steps that each item goes through
    job_steps       bigint not null default 0,   -- mask of the steps that run once, after all items
    roots           int[] not null default '{}', -- the steps that wait for nothing
    max_input_bytes int not null default 1048576,
    digest          text not null default '',    -- of the registered definition: registering it again is free
    updated_at      timestamptz not null default clock_timestamp()
);

create table forebay.queue (
    name       text primary key,
    paused     boolean not null default false,
    -- A step whose configuration is wrong is parked: nobody claims from its queue until probe_at, then one task does.
    parked     text,
    probe_at   timestamptz,
    updated_at timestamptz not null default clock_timestamp()
);

create table forebay.step (
    id           int generated always as identity primary key,
    pipeline_id  int not null references forebay.pipeline,
    name         text not null check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
    bit          bigint not null,                -- its place in the masks, given once and never reused
    needs        bigint not null default 0,      -- mask: runs when these are done
    downstream   bigint not null default 0,      -- mask: cannot run any more when this one is dead
    optional     boolean not null default false,
    after_all    boolean not null default false,
    active       boolean not null default true,
    queue        text not null references forebay.queue,
    max_attempts smallint not null default 3,
    max_expiries smallint not null default 20,
    unique (pipeline_id, name),
    unique (pipeline_id, bit)
);

create table forebay.job (
    id           bigint generated always as identity primary key,
    owner_id     bigint not null,                -- no foreign keys here: they cost a submit two more look-ups, and
    pipeline_id  int not null,                   -- owners and pipelines are never deleted
    state        forebay.job_state not null default 'QUEUED',
    priority     smallint not null default 0,
    sealed       boolean not null default true,  -- false while a stream still adds items
    steps        bigint not null,                -- the pipeline's masks when the job came in
    job_steps    bigint not null default 0,
    total        int not null default 0,
    done         int not null default 0,
    skipped      int not null default 0,
    not_found    int not null default 0,
    error        int not null default 0,
    loaded       bigint not null default 0,      -- source rows a stream has consumed: where it resumes
    reaped       int not null default -1,        -- cancelling has ended the open items up to this n: where it goes on
    lane_id      bigint not null,
    first_seq    bigint,                         -- the first ready row of a coalescing job, to find it again
    key          text check (length(key) between 1 and 500),
    coalesces    boolean not null default false,
    meta         jsonb,
    created_at   timestamptz not null default clock_timestamp(),
    started_at   timestamptz,
    finished_at  timestamptz,
    updated_at   timestamptz not null default clock_timestamp()
) with (fillfactor = 70);
create unique index job_key on forebay.job (pipeline_id, owner_id, key) where key is not null and not coalesces;
create index job_coalescing on forebay.job (pipeline_id, owner_id, key) where coalesces and finished_at is null;
create index job_owner on forebay.job (owner_id, id);
create index job_finished on forebay.job (finished_at) where finished_at is not null;
create index job_cancelling on forebay.job (id) where state = 'CANCELLED' and finished_at is null;

create table forebay.item (
    job_id      bigint not null,
    n           int not null,
    owner_id    bigint not null,
    pipeline_id int not null,
    status      forebay.item_status not null default 'PENDING',  -- PROCESSING is derived from leases: see items
    verdict     forebay.item_status not null default 'DONE',     -- the worst that a step has said so far
    done        bigint not null default 0,                       -- masks of steps
    dead        bigint not null default 0,
    created_at  timestamptz not null default clock_timestamp(),
    updated_at  timestamptz not null default clock_timestamp(),
    key         text check (length(key) between 1 and 500),
    input       jsonb not null,
    normalized  jsonb,
    result      jsonb,                                           -- step name → what it returned
    error       jsonb,                                           -- {step, class, reason, attempt} of the last failure
    progress    jsonb,
    primary key (job_id, n)
);
create unique index item_key on forebay.item (job_id, key) where key is not null;

create table forebay.attempt (
    job_id     bigint not null,
    n          int not null,
    step_id    int not null,
    attempt    smallint not null,
    outcome    forebay.outcome not null,
    owner_id   bigint not null,
    worker_id  bigint not null,
    token      bigint not null,
    started_at timestamptz not null,
    ended_at   timestamptz not null,
    class      text,
    reason     text
) partition by range (ended_at);
create index attempt_task on forebay.attempt (job_id, n);
create index attempt_ended on forebay.attempt using brin (ended_at) with (autosummarize = on);
create table forebay.attempt_default partition of forebay.attempt default;

create table forebay.dead_letter (
    job_id   bigint not null,
    n        int not null,
    step_id  int not null,
    owner_id bigint not null,
    outcome  forebay.outcome not null,
    attempt  smallint not null,
    class    text,
    reason   text,
    at       timestamptz not null,
    primary key (job_id, n, step_id)
);
create index dead_letter_recent on forebay.dead_letter (at, job_id, n);

create table forebay.audit (
    id       bigint generated always as identity primary key,
    at       timestamptz not null,
    actor    text not null,
    action   text not null,
    owner_id bigint,
    job_id   bigint,
    n        int,
    detail   jsonb
);
create index audit_job on forebay.audit (job_id, id);

create table forebay.worker (
    id         bigint generated always as identity primary key,
    name       text not null,
    started_at timestamptz not null,
    seen_at    timestamptz not null,
    stopped_at timestamptz,
    stale      bigint not null default 0,  -- reports that came with a token no longer held
    stats      jsonb not null default '{}'
);

create table forebay.schedule (
    name        text primary key,
    pipeline_id int not null references forebay.pipeline,
    owner_id    bigint not null references forebay.owner,
    cron        text not null,
    timezone    text not null default 'UTC',
    input       jsonb not null,
    priority    smallint not null default 0,
    paused      boolean not null default false,
    next_at     timestamptz not null,
    last_at     timestamptz,
    last_job_id bigint
);
create index schedule_next on forebay.schedule (next_at) where not paused;

-- The tasks of an owner at one priority (job_id = 0), or of one large or paused job. One row is one pause switch.
create table forebay.lane (
    id         bigint generated always as identity primary key,
    owner_id   bigint not null,
    job_id     bigint not null default 0,
    priority   smallint not null default 0,
    paused     boolean not null default false,
    busy_until timestamptz not null default '-infinity',  -- workers are in the middle of it: no wake-up needed
    used_at    timestamptz not null default clock_timestamp(),
    unique (owner_id, job_id, priority)
);
create index lane_job on forebay.lane (job_id) where job_id <> 0;

create sequence forebay.seq cache 1;
create sequence forebay.token cache 1;

create table forebay.ready (
    step_id  int not null,
    lane_id  bigint not null,
    seq      bigint not null default nextval('forebay.seq'),
    job_id   bigint not null,
    owner_id bigint not null,
    first_n  int not null,
    last_n   int not null,
    attempt  smallint not null default 0,  -- executions spent so far
    primary key (step_id, lane_id, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

create table forebay.scheduled (
    run_at   timestamptz not null,
    seq      bigint not null default nextval('forebay.seq'),
    step_id  int not null,
    lane_id  bigint not null,
    job_id   bigint not null,
    owner_id bigint not null,
    first_n  int not null,
    last_n   int not null,
    attempt  smallint not null default 0,
    primary key (run_at, seq)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index scheduled_job on forebay.scheduled (job_id);

create table forebay.lease (
    token      bigint primary key default nextval('forebay.token'),
    step_id    int not null,
    lane_id    bigint not null,
    job_id     bigint not null,
    owner_id   bigint not null,
    worker_id  bigint not null,
    attempt    smallint not null,
    cancelled  boolean not null default false,
    claimed_at timestamptz not null,
    expires_at timestamptz not null,
    ns         int4multirange not null     -- the tasks of the run that are not settled yet
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index lease_job on forebay.lease (job_id);

-- A settled task after which something else has to happen: see settle.
create type forebay.sequel as (
    job_id bigint, n int, step_id int, lane_id bigint, owner_id bigint, pipeline_id int, mask bigint, status forebay.item_status,
    done bigint, dead bigint, adds_done bigint, adds_dead bigint, outcome forebay.outcome, attempt smallint, spent boolean,
    again_at timestamptz, class text, reason text
);
