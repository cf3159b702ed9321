-- Shares: what people have sent a link to, or uploaded; what the steps have found out about it; and what is said in it.

-- What is searched of a share, the best first: a vector holds a megabyte at most, so every part is cut. Titles are found by
-- their words as they are and by their stems.
create function forebay.share_searched(language text, title text, author text, description text, spoken text)
returns tsvector language sql immutable parallel safe as $$
select setweight(to_tsvector('pg_catalog.simple', left(coalesce(title, ''), 2000)), 'A')
    || setweight(to_tsvector(forebay.document_config(language), left(coalesce(title, ''), 2000)), 'A')
    || setweight(to_tsvector('pg_catalog.simple', left(coalesce(author, ''), 500)), 'B')
    || setweight(to_tsvector(forebay.document_config(language), left(coalesce(description, ''), 10000)), 'B')
    || setweight(to_tsvector(forebay.document_config(language), left(coalesce(spoken, ''), 120000)), 'C')
$$;

-- Made here and not with the routines, and kept when those are made anew.
comment on function forebay.share_searched is 'stored columns are made by it';

create table forebay.share (
    id                    bigint generated always as identity primary key,
    owner_id              bigint not null,
    url                   text check (length(url) between 1 and 8192),  -- null: a file of the owner
    playlist_id           bigint references forebay.share on delete cascade,
    playlist_index        int,
    priority              smallint not null default 0,
    created_at            timestamptz not null default clock_timestamp(),
    updated_at            timestamptz not null default clock_timestamp(),
    job_id                bigint,                       -- the last that has worked on it
    item_n                int not null default 1,
    -- The download.
    download_status       varchar(20) not null default 'pending'
        check (download_status in ('pending', 'processing', 'retry', 'completed', 'failed')),
    download_attempts     int not null default 0,
    download_error        text,
    download_started_at   timestamptz,
    download_completed_at timestamptz,
    -- What the steps have found.
    kind                  text check (kind in ('video', 'audio', 'image', 'playlist', 'file')),
    title                 text,
    description           text,
    author                text,
    site                  text,
    language              text,
    published_at          timestamptz,
    duration_s            double precision,
    width                 int,
    height                int,
    video_codec           text,
    audio_codec           text,
    container             text,
    file_id               bigint,                       -- files, which go with it: see drop_share_files
    size                  bigint,
    sha256                bytea,
    file_removed_at       timestamptz,                  -- by retention: the share stays
    poster_id             bigint,
    platform_data         jsonb not null default '{}',  -- originalMediaUrl, downloadMetadata, what the site says
    -- The transcript.
    transcript_status     text not null default 'pending'
        check (transcript_status in ('pending', 'processing', 'completed', 'skipped', 'failed')),
    transcript_error      text,
    spoken                text,                         -- the text of the transcript, once it can be searched
    search                tsvector generated always as
        (forebay.share_searched(language, title, author, description, spoken)) stored
);
create index share_owner on forebay.share (owner_id, id);
create index share_kind on forebay.share (owner_id, kind, id);
create index share_state on forebay.share (owner_id, download_status, id);
create index share_playlist on forebay.share (playlist_id, playlist_index) where playlist_id is not null;
create index share_job on forebay.share (job_id) where job_id is not null;
create index share_search on forebay.share using gin (search);
create index share_created on forebay.share (created_at);
create index share_completed on forebay.share (download_completed_at) where file_id is not null;
-- As the source has them: of the queue, and of monitoring.
create index idx_shares_download_queue on forebay.share (download_status, created_at)
    where download_status in ('pending', 'retry');
create index idx_shares_download_status on forebay.share (download_status);

-- What is said in a share, once: in pieces with the times of their words.
create table forebay.transcript (
    share_id   bigint primary key references forebay.share on delete cascade,
    owner_id   bigint not null,
    language   text,
    source     text not null check (source in ('subtitles', 'speech')),
    model      text,                                    -- or the name of the subtitles
    segments   jsonb not null,                          -- [{"start": 0.0, "end": 1.5, "text": "…", "words": [{"start", "end", "text"}]}]
    text       text not null,
    created_at timestamptz not null default clock_timestamp()
);
create index transcript_owner on forebay.transcript (owner_id, share_id);
