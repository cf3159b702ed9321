-- Webhooks that were processed: a delivery that comes again is answered, and not processed again.
create table forebay.webhook_delivery (
    owner_id    bigint not null,
    source      text not null check (length(source) between 1 and 100),
    key         text not null check (length(key) between 1 and 255),
    received_at timestamptz not null default clock_timestamp(),
    primary key (owner_id, source, key)
);
create index webhook_delivery_age on forebay.webhook_delivery using brin (received_at);
