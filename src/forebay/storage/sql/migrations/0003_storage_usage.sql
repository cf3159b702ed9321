-- How much is stored, as last counted by the chore `count storage`, because pages must not scan all files.
create table forebay.storage_usage (
    owner_id bigint not null,
    kind     text not null,     -- image, video, audio, text, or a media type
    files    bigint not null,
    bytes    bigint not null,   -- contents that several files of the owner share count once
    primary key (owner_id, kind)
);

create table forebay.storage_total (
    is_last     boolean primary key default true check (is_last),  -- one row
    counted_at  timestamptz not null,
    blobs       bigint not null,
    bytes       bigint not null,
    loose_blobs bigint not null,
    loose_bytes bigint not null,
    waste       bigint not null,
    waste_bytes bigint not null
);
