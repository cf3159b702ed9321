-- Articles: texts that people write. Each text is a version; `article` says which version is the current one, and which one is
-- embedded.

create table forebay.article (
    id               bigint generated always as identity primary key,
    owner_id         bigint not null,
    slug             text not null check (length(slug) between 1 and 255),      -- its file name, without a suffix
    title            text not null check (length(title) between 1 and 500),
    excerpt          text not null,
    words            int not null,
    version          int not null default 1,
    skip_embedding   boolean not null default false,
    -- As recorded; an open task may have ended otherwise: see article_embedding.
    embedding        text not null check (embedding in ('fresh', 'stale', 'waiting', 'failed', 'off')),
    embedded_version int,
    embedded_at      timestamptz,
    problem          text,                                                      -- why the last task failed
    job_id           bigint,                                                    -- its last task
    item             int,
    created_at       timestamptz not null default clock_timestamp(),
    updated_at       timestamptz not null default clock_timestamp(),
    unique (owner_id, slug)
);
create index article_newest on forebay.article (owner_id, id);
create index article_updated on forebay.article (owner_id, updated_at, id);
create index article_unembedded on forebay.article (owner_id, updated_at, id) where embedding <> 'fresh';
create index article_titles on forebay.article (owner_id, lower(title) text_pattern_ops);

create table forebay.article_version (
    article_id bigint not null references forebay.article on delete cascade,
    version    int not null,
    owner_id   bigint not null,
    title      text not null,
    content    text not null,
    message    text check (length(message) <= 1000),
    created_at timestamptz not null default clock_timestamp(),
    primary key (article_id, version)
);

-- What an editor keeps while somebody types: of an article (base_version: the version that it was opened with), or of a new one.
create table forebay.article_draft (
    owner_id     bigint not null,
    key          text not null check (length(key) between 1 and 100),
    article_id   bigint references forebay.article on delete cascade,
    base_version int,
    title        text not null,
    content      text not null,
    updated_at   timestamptz not null default clock_timestamp(),
    primary key (owner_id, key)
);
create index article_drafts on forebay.article_draft (article_id) where article_id is not null;

-- The tasks of articles: which item of which job embeds, or removes, which article. It has no reference to the article's row,
-- because the task that removes its vectors outlives it. How a task goes is in the tables of the engine: see embedding_tasks.
create table forebay.article_task (
    job_id     bigint not null,
    item       int not null,
    article_id bigint not null,
    owner_id   bigint not null,
    queued_at  timestamptz not null default clock_timestamp(),
    primary key (job_id, item)
);
create index article_task_of on forebay.article_task (article_id, job_id);
create index article_task_newest on forebay.article_task (owner_id, job_id, item);
