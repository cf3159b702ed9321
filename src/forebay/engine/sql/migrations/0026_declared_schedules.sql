-- The schedules that the pipelines of a worker declare; null: unknown, as of workers of the previous release.
alter table forebay.worker add column schedules text[];
