-- Sheets: files of rows, each of which becomes a job whose items are its rows.
-- formerly 0012

create table forebay.sheet (
    id            bigint generated always as identity primary key,
    owner_id      bigint not null,
    job_id        bigint not null unique,        -- its rows are the items of this job
    intake_job_id bigint,                        -- this one receives and reads the file; null while it is being uploaded
    name          text not null check (length(name) between 1 and 500),
    source        text,                          -- null: uploaded; else the source that it was taken from …
    path          text,                          -- … where it was there …
    version       text,                          -- … and which of its contents: each is taken once
    size          bigint check (size >= 0),      -- bytes; null while that is not known
    options       jsonb not null default '{}',   -- as they were given
    file_id       bigint,                        -- the file itself, once it is received
    kind          text,                          -- csv, xlsx, jsonl, image, images
    layout        jsonb,                         -- how it is written
    columns       text[],                        -- in the order of the file
    mapping       jsonb,                         -- which column holds which field
    suggestions   jsonb,                         -- what made us think so
    providers     text[],                        -- asked first, in this order; null: as they are declared
    turn          int not null default 0,        -- how often it was reprocessed: lets others be asked first
    problem       text,                          -- why it cannot be read
    created_at    timestamptz not null default clock_timestamp(),
    received_at   timestamptz,
    read_at       timestamptz
);
create index sheet_owner on forebay.sheet (owner_id, id);
create unique index sheet_source on forebay.sheet (source, path, version) where source is not null;
create index sheet_uploading on forebay.sheet (created_at) where intake_job_id is null;

-- The parts of a file that is being uploaded: objects of their own in the store, until the whole is put together.
create table forebay.sheet_piece (
    sheet_id   bigint not null references forebay.sheet on delete cascade,
    owner_id   bigint not null,
    start      bigint not null check (start >= 0),
    name       uuid not null default gen_random_uuid(),  -- the object is uploads/<sheet>/<name>: nobody can name another's
    size       bigint check (size > 0),                  -- null until the object is whole
    created_at timestamptz not null default clock_timestamp(),
    primary key (sheet_id, start, name)
);
create index sheet_piece_age on forebay.sheet_piece (created_at);

-- Files made of a sheet's rows.
create table forebay.sheet_export (
    job_id     bigint primary key,               -- the job that writes it
    sheet_id   bigint not null references forebay.sheet on delete cascade,
    owner_id   bigint not null,
    format     text not null check (format in ('csv', 'xlsx', 'jsonl')),
    options    jsonb not null default '{}',      -- statuses, escaping …
    file_id    bigint,                           -- once it is written
    rows       bigint,
    created_at timestamptz not null default clock_timestamp(),
    written_at timestamptz
);
create index sheet_export_sheet on forebay.sheet_export (sheet_id, job_id);

-- The files that go with a sheet: itself, its pictures, what was exported.
create table forebay.sheet_file (
    file_id  bigint primary key,
    sheet_id bigint not null references forebay.sheet on delete cascade,
    owner_id bigint not null
);
create index sheet_file_sheet on forebay.sheet_file (sheet_id);
