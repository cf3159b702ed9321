-- A task whose key of a limit is full waits in a lane of that key, in which its owner and job stay what they are. The columns
-- are empty for all other lanes.
alter table forebay.lane add column limit_name text not null default '', add column limit_key text not null default '';
create unique index lane_of_key on forebay.lane (owner_id, job_id, priority, limit_name, limit_key);
alter table forebay.lane drop constraint lane_owner_id_job_id_priority_key;
create index lane_unused_key on forebay.lane (used_at) where limit_name <> '' and job_id = 0;
