-- The run_at of tasks that wait behind another task of their key: later than all that promote() looks for, and earlier than that of
-- paused items.
create or replace function forebay.waits_in_order() returns timestamptz language sql immutable as $$
select timestamptz '9999-01-01 00:00:00+00'
$$;
