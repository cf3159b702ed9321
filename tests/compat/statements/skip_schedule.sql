-- Skips a run that could not be submitted: sets only the next time, or pauses the schedule if there is none.
update forebay.schedule s
set next_at = coalesce(cast($2 as timestamptz), s.next_at), paused = s.paused or cast($2 as timestamptz) is null
where s.name = cast($1 as text)
