-- Which jobs retention has deleted lately, for readers of events: one row for each batch and owner. It is kept for some hours.
create table forebay.deleted_jobs (
    at       timestamptz not null,
    owner_id bigint not null,
    job_ids  bigint[] not null
);
create index deleted_jobs_at on forebay.deleted_jobs (at);
