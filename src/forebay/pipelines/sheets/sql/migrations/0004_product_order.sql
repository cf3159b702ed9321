-- Of two rows about the same product the later one counts, whichever is worked on first: that of the later load, and within
-- formerly 0016
-- one load that further down.
alter table forebay.product add column job_id bigint not null default 0, add column n int not null default 0;
