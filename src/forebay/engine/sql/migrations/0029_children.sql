-- The children of a Map are the items of a job that belongs to a task of another job: parent_id, parent_n and the bit of its step.
-- The job is not sealed before that task is settled; until then none of its items can start.
alter table forebay.job
    add column parent_id  bigint,
    add column parent_n   int,
    add column parent_bit bigint;

-- What was done to a job and has not reached all of its children yet: pause, resume or cancel. The last action counts.
create table forebay.child_change (
    job_id   bigint primary key,
    owner_id bigint not null,
    action   text not null,
    actor    text not null,
    after_n  int not null,     -- the children up to this item and this job have been reached
    after_id bigint not null
);
