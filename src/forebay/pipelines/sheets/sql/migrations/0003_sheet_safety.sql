-- What a review has found about sheets.
-- formerly 0015

-- Which contents of sources were taken, remembered for longer than the sheets themselves: a file that stays where it is must
-- not come in again when its job is old. Hashes, as paths may be long.
create table forebay.sheet_taken (
    source  text not null,
    path    bytea not null,                      -- SHA-256
    version bytea not null,
    seen_at timestamptz not null default clock_timestamp(),  -- by a scan
    primary key (source, path, version)
);
create index sheet_taken_seen on forebay.sheet_taken (seen_at);
drop index forebay.sheet_source;

-- Of the pieces that come for the same place, one counts.
create unique index sheet_piece_counted on forebay.sheet_piece (sheet_id, start) where size is not null;
