-- outside a transaction: indexes on large tables are built while work goes on.
-- What the service looks for besides the engine: an owner's open jobs, in order and by their last change; failed items.
drop index concurrently if exists forebay.job_open;
create index concurrently job_open on forebay.job (owner_id, id) where finished_at is null;
drop index concurrently if exists forebay.job_changed;
create index concurrently job_changed on forebay.job (owner_id, updated_at) where finished_at is null;
drop index concurrently if exists forebay.item_failed;
create index concurrently item_failed on forebay.item (job_id, n) where status in ('SKIPPED', 'NOT_FOUND', 'ERROR');
