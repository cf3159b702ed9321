-- outside a transaction: the indexes are built while work goes on.
drop index concurrently if exists forebay.job_children;
create index concurrently job_children on forebay.job (parent_id, parent_n, id) where parent_id is not null;
drop index concurrently if exists forebay.job_unstarted;
create index concurrently job_unstarted on forebay.job (id) where parent_id is not null and not sealed;
