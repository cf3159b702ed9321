-- The pieces of a recording that are transcribed, while the others are not: the next attempt continues after them.
create table forebay.transcript_piece (
    share_id   bigint not null references forebay.share on delete cascade,
    owner_id   bigint not null,
    start_ms   bigint not null,
    end_ms     bigint not null check (end_ms >= start_ms),
    sha256     bytea not null,                          -- the recording
    model      text not null,
    is_last    boolean not null,
    language   text,
    segments   jsonb not null,                          -- as in forebay.transcript
    created_at timestamptz not null default clock_timestamp(),
    primary key (share_id, start_ms)
);
