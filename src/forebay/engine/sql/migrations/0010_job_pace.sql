-- What a job row tells of its work: how fast its items ended lately, and why the last one failed.
-- formerly 0018

-- Where two windows of the counters began: the present one, and the one before it (null in a job's first window).
create type forebay.pace as (since timestamptz, ended int, earlier timestamptz, earlier_ended int);

alter table forebay.job
    add column pace       forebay.pace,  -- null: no item has ended since it started, was resumed or was reprocessed
    add column last_error jsonb;         -- {item, step, class, reason, attempt, at} of the latest attempt that failed
