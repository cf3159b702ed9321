-- The answers to requests that came with an Idempotency-Key, for the case that they come again.
-- formerly 0004
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
