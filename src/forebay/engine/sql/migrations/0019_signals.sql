-- Waits for signals. A task that waits is a scheduled run, due at its timeout; `waiting` says for which signal.
create table forebay.waiting (
    job_id       bigint not null,
    n            int not null,
    bit          bigint not null,                -- of the step: it stays when the step is renamed, or the job changes its version
    owner_id     bigint not null,
    name         text not null check (length(name) between 1 and 200),
    key          text not null check (length(key) between 1 and 500),
    expires_at   timestamptz not null,
    payload      jsonb,                          -- of the signal that came
    signalled_at timestamptz,                    -- null: still waits
    primary key (job_id, n, bit)
) with (fillfactor = 80);
create index waiting_for on forebay.waiting (owner_id, name, key) where signalled_at is null;

-- Signals for which no task waited when they came: the first that does so takes them.
create table forebay.kept_signal (
    id         bigint generated always as identity primary key,
    owner_id   bigint not null,
    name       text not null check (length(name) between 1 and 200),
    key        text not null check (length(key) between 1 and 500),
    payload    jsonb,
    at         timestamptz not null,
    expires_at timestamptz not null
);
create index kept_signal_of on forebay.kept_signal (owner_id, name, key, id);
create index kept_signal_at on forebay.kept_signal (at);
create index kept_signal_expiry on forebay.kept_signal (expires_at);
