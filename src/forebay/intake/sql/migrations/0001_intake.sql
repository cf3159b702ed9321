-- Files that come in for a pipeline: uploaded whole or in parts, or taken from a source.

-- One row for each file. `target` is the name that a pipeline package has registered; `reference` is the number that the target
-- gives to what the file becomes.
create table forebay.intake_file (
    target        text not null check (length(target) between 1 and 63),
    reference     bigint not null,
    owner_id      bigint not null,
    job_id        bigint not null unique,        -- the content of the file becomes the items of this job
    intake_job_id bigint,                        -- the job that receives the file; null while it is uploaded, 0: it was given up
    name          text not null check (length(name) between 1 and 500),
    size          bigint check (size >= 0),      -- bytes; null while the size is unknown
    options       jsonb not null default '{}',   -- of targets that do not keep them in a row of their own
    source        text,                          -- null: uploaded; else the source that the file is taken from …
    path          text,                          -- … its path there …
    version       text,                          -- … and the version of its content
    file_id       bigint,                        -- the stored file, once it is received
    problem       text,                          -- why it is not received
    created_at    timestamptz not null default clock_timestamp(),
    received_at   timestamptz,
    primary key (target, reference)
);
create index intake_file_uploading on forebay.intake_file (created_at) where intake_job_id is null;

-- The parts of a file that is being uploaded: each is an object in the store until the file is complete and put together.
create table forebay.intake_part (
    target     text not null,
    reference  bigint not null,
    owner_id   bigint not null,
    start      bigint not null check (start >= 0),
    name       uuid not null default gen_random_uuid(),  -- the object is uploads/<reference>/<name>: nobody can choose the name
    size       bigint check (size > 0),                  -- null until the object is stored
    sha256     bytea check (length(sha256) = 32),
    created_at timestamptz not null default clock_timestamp(),
    primary key (target, reference, start, name),
    foreign key (target, reference) references forebay.intake_file on delete cascade
);
create index intake_part_age on forebay.intake_part (created_at);
-- Of the parts that come for the same place, one counts.
create unique index intake_part_counted on forebay.intake_part (target, reference, start) where size is not null;

-- Which contents of sources were taken. These rows live longer than the files: a file that stays at its source must not be
-- taken again when its job is deleted. Hashes, as paths may be long.
create table forebay.intake_taken (
    target  text not null,
    source  text not null,
    path    bytea not null,                      -- SHA-256
    version bytea not null,                      -- SHA-256
    seen_at timestamptz not null default clock_timestamp(),  -- by the last scan
    primary key (target, source, path, version)
);
create index intake_taken_seen on forebay.intake_taken (target, seen_at);
