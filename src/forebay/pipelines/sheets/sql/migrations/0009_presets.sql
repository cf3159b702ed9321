-- How an owner has mapped the columns of files: offered for the next file with the same columns.
create table forebay.sheet_preset (
    owner_id    bigint not null,
    fingerprint bytea not null,                  -- of the names of the columns: forebay.column_fingerprint
    mapping     jsonb not null,                  -- as in `sheet`
    providers   text[],
    used_at     timestamptz not null default clock_timestamp(),
    primary key (owner_id, fingerprint)
);
