-- What a worker last failed on may be about anybody's item: apart from what everyone may read of workers.
alter table forebay.worker add column last_error text;
-- An owner's own dead letters, however many others have.
create index dead_letter_owner on forebay.dead_letter (owner_id, at, job_id, n);
-- The same for what an owner has done, and what was done to the owner's jobs.
create index audit_owner on forebay.audit (owner_id, id);
