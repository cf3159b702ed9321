-- outside a transaction: the index is built while work goes on.
-- Streams that take more items, and children that have not started. It takes the place of job_unstarted, which had only those.
drop index concurrently if exists forebay.job_unsealed;
create index concurrently job_unsealed on forebay.job (id) where not sealed;
drop index concurrently if exists forebay.job_unstarted;
