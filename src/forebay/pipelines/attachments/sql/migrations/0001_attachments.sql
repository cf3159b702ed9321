-- Attachments: what senders announce by webhooks (approvals, releases …), and the files that belong to it.

create table forebay.attachment_instance (
    id           bigint generated always as identity primary key,
    owner_id     bigint not null,
    source       text not null check (length(source) between 1 and 50),
    key          text not null check (length(key) between 1 and 255),  -- what the sender calls it
    title        text,
    state        text,                                -- as the sender says, such as APPROVED
    facts        jsonb not null default '[]',         -- of the form: [{"name": …, "value": …}]
    skipped      int not null default 0,              -- files that the form names without saying where they are
    job_id       bigint,                              -- the newest job
    voucher      text not null default 'WAITING' check (voucher in ('WAITING', 'READY', 'PARTIAL', 'WITHHELD', 'NONE')),
    voucher_id   bigint,                              -- the file
    problem      text,                                -- why it has no files, or no voucher
    created_at   timestamptz not null default clock_timestamp(),
    received_at  timestamptz not null default clock_timestamp(),  -- the newest delivery
    seen_at      timestamptz,                         -- received_at as it was when its form was last read: later ones are news
    read_at      timestamptz,                         -- when its form was read
    settled_at   timestamptz,                         -- when all of its files were downloaded or had failed
    alerted_at   timestamptz,
    unique (owner_id, source, key)
);
create index attachment_instance_owner on forebay.attachment_instance (owner_id, id);
create index attachment_instance_age on forebay.attachment_instance (settled_at) where voucher_id is not null;
create index attachment_instance_news on forebay.attachment_instance (received_at) where received_at > seen_at;
create index attachment_instance_job on forebay.attachment_instance (job_id);

create table forebay.attachment (
    id              bigint generated always as identity primary key,
    owner_id        bigint not null,
    instance_id     bigint not null references forebay.attachment_instance on delete cascade,
    key             text not null check (length(key) between 1 and 500),  -- identifies it within its instance
    name            text not null check (length(name) between 1 and 500),
    url             text,                             -- null: the sender's form is read again for a fresh one
    expected_size   bigint,
    expected_sha256 bytea,
    status          text not null default 'PENDING' check (status in ('PENDING', 'DOWNLOADED', 'FAILED')),
    attempts        int not null default 0,
    error           text,
    size            bigint,
    sha256          bytea,
    media_type      text,
    file_id         bigint,                           -- null once it was cleaned up
    job_id          bigint,                           -- its item: where it was last tried
    n               int,
    created_at      timestamptz not null default clock_timestamp(),
    last_attempt_at timestamptz,
    downloaded_at   timestamptz,
    removed_at      timestamptz,
    unique (instance_id, key)
);
create index attachment_state on forebay.attachment (owner_id, status, id);
create index attachment_tried on forebay.attachment (owner_id, last_attempt_at);
create index attachment_error on forebay.attachment (owner_id, last_attempt_at) where error is not null;
create index attachment_kept on forebay.attachment (owner_id, downloaded_at, id) where file_id is not null;
create index attachment_age on forebay.attachment (downloaded_at) where file_id is not null;

-- Requests of senders, and what was thought of them.
create table forebay.attachment_delivery (
    id          bigint generated always as identity primary key,
    owner_id    bigint not null,
    source      text not null check (length(source) between 1 and 50),
    verdict     text not null check (verdict in ('ACCEPTED', 'DUPLICATE', 'IGNORED', 'CHALLENGE', 'REJECTED')),
    reason      text,
    key         text,
    event       text,
    bytes       int not null,
    ip          inet,
    instance_id bigint references forebay.attachment_instance on delete set null,
    received_at timestamptz not null default clock_timestamp()
);
create index attachment_delivery_owner on forebay.attachment_delivery (owner_id, id);
create index attachment_delivery_instance on forebay.attachment_delivery (instance_id);
create index attachment_delivery_age on forebay.attachment_delivery (received_at);
create index attachment_delivery_rejected on forebay.attachment_delivery (source, received_at) where verdict in ('REJECTED', 'CHALLENGE');

-- Requests for files by hour, of each app of a sender that allows so many a day.
create table forebay.attachment_quota (
    app  text not null,
    hour timestamptz not null,
    used int not null,
    primary key (app, hour)
);
