-- outside a transaction: the indexes are built while work goes on.
-- It takes the place of job_key, which allows only one job for each key.
drop index concurrently if exists forebay.job_key_turn;
create unique index concurrently job_key_turn on forebay.job (pipeline_id, owner_id, key, key_turn)
where key is not null and not coalesces;
-- It takes the place of the constraint that allows only one lane for each owner, job and priority.
drop index concurrently if exists forebay.lane_of_key;
create unique index concurrently lane_of_key on forebay.lane (owner_id, job_id, priority, limit_name, limit_key);
drop index concurrently if exists forebay.lane_unused_key;
create index concurrently lane_unused_key on forebay.lane (used_at) where limit_name <> '' and job_id = 0;
