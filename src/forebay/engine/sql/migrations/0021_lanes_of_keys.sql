-- A task whose key of a limit is full waits in a lane of that key, in which its owner and job stay what they are. The columns
-- are empty for all other lanes.
alter table forebay.lane add column limit_name text not null default '', add column limit_key text not null default '';
