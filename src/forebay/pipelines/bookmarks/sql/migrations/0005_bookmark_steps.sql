-- How each step of a bookmark has ended: it stays when the job is deleted, and when a later job repeats only other steps.

create table forebay.bookmark_step (
    bookmark_id bigint not null references forebay.bookmark on delete cascade,
    step        text not null,
    owner_id    bigint not null,
    job_id      bigint not null,
    state       text not null check (state in ('DONE', 'SKIPPED', 'NOT_FOUND', 'FAILED')),
    reason      text,
    ended_at    timestamptz not null default clock_timestamp(),
    primary key (bookmark_id, step)
);
