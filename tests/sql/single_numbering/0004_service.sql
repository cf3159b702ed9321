-- People and programs that use the service, and what is known about where jobs came from.
-- Secrets are kept as hashes only: passwords by argon2id, the rest, which is random, by SHA-256.

-- For audit: where a job was submitted from, and the file that it was made of, as the session says.
alter table forebay.job
    add column ip   inet default nullif(current_setting('forebay.ip', true), '')::inet,
    add column file text default nullif(current_setting('forebay.file', true), '');

-- Null: the settings decide.
alter table forebay.owner
    add column max_open_jobs      int check (max_open_jobs >= 0),
    add column max_open_items     bigint check (max_open_items >= 0),
    add column submits_per_minute int check (submits_per_minute >= 0);

create type forebay.account_role as enum ('user', 'admin');

create table forebay.account (
    id           bigint generated always as identity primary key,
    owner_id     bigint not null unique references forebay.owner,
    name         text not null unique check (name ~ '^[a-z0-9][a-z0-9._@+-]{0,98}[a-z0-9]$'),
    role         forebay.account_role not null default 'user',
    password     text,                 -- null: signs in by link only, so far
    created_at   timestamptz not null default clock_timestamp(),
    signed_in_at timestamptz,
    disabled_at  timestamptz
);

create table forebay.session (
    hash       bytea primary key,
    account_id bigint not null references forebay.account on delete cascade,
    created_at timestamptz not null default clock_timestamp(),
    seen_at    timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    ip         inet,
    agent      text
);
create index session_account on forebay.session (account_id);

-- Of an account, or, without one, the service's own: those act for the owner that each request names.
create table forebay.api_token (
    id         bigint generated always as identity primary key,
    account_id bigint references forebay.account on delete cascade,
    name       text not null check (length(name) between 1 and 100),
    hash       bytea not null unique,
    hint       text not null,          -- its last characters, to tell it from others
    scopes     text[] not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz,
    used_at    timestamptz,
    revoked_at timestamptz
);
create index api_token_account on forebay.api_token (account_id);

-- A link that works once: to make an account (account_id is null), or to sign in to one.
create table forebay.invitation (
    hash       bytea primary key,
    account_id bigint references forebay.account on delete cascade,
    role       forebay.account_role not null default 'user',
    created_by text not null,
    created_at timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null,
    used_at    timestamptz
);

-- Wrong passwords, by account name and by address: who guesses has to wait longer and longer.
create table forebay.sign_in_failure (
    key           text primary key,
    failures      int not null,
    blocked_until timestamptz not null,
    last_at       timestamptz not null
);

-- The answers to requests that came with an Idempotency-Key, for the case that they come again.
create table forebay.idempotency (
    owner_id   bigint not null,
    key        text not null check (length(key) between 1 and 255),
    request    bytea not null,
    status     smallint not null,
    answer     jsonb not null,
    created_at timestamptz not null default clock_timestamp(),
    primary key (owner_id, key)
);
create index idempotency_age on forebay.idempotency using brin (created_at);
