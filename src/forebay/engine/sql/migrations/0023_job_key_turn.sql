-- outside a transaction: the index is built while work goes on.
-- It takes the place of job_key, which allows only one job for each key.
drop index concurrently if exists forebay.job_key_turn;
create unique index concurrently job_key_turn on forebay.job (pipeline_id, owner_id, key, key_turn)
where key is not null and not coalesces;
