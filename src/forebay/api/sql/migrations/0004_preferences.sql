-- What an owner prefers in the web app: columns, density, saved views. Only the app knows the fields.
create table forebay.preferences (
    owner_id   bigint primary key,
    value      json not null check (octet_length(value::text) <= 16384),  -- as it was sent: jsonb would write numbers differently
    updated_at timestamptz not null default clock_timestamp()
);
