-- The tasks of steps with an order (ordered_by), from when their key is known until they end. One task of each key is current: only
-- that one is in `ready` or in a lease. The others wait in `scheduled`: see waits_in_order.
create table forebay.ordered_task (
    pipeline_id int not null,
    bit         bigint not null,                 -- of the step, in all versions of the pipeline
    owner_id    bigint not null,
    key         text not null,
    job_id      bigint not null,
    n           int not null,
    is_current  boolean not null default false,
    primary key (pipeline_id, bit, owner_id, key, job_id, n)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create unique index ordered_task_current on forebay.ordered_task (pipeline_id, bit, owner_id, key) where is_current;
create unique index ordered_task_of_item on forebay.ordered_task (job_id, n, bit);
alter table forebay.step add column ordered boolean not null default false;
alter table forebay.version_step add column ordered boolean not null default false;
