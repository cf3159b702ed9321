-- Whether a job is over once `closed` more of its items, and perhaps its job item, have ended.
create or replace function forebay.is_over(j forebay.job, closed bigint, own forebay.item_status) returns boolean
language sql immutable as $$
select j.sealed and j.done + j.skipped + j.not_found + j.error + closed >= j.total
       and (j.job_steps = 0 or own is not null or j.state = 'CANCELLED')
$$;
