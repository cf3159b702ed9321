-- Before the routines: key_lane_id makes several lanes for one owner, job and priority.
alter table forebay.lane drop constraint lane_owner_id_job_id_priority_key;
