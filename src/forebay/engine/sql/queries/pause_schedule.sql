-- Pauses a schedule, or resumes it at the given time.
update forebay.schedule s set paused = cast($2 as boolean), next_at = coalesce(cast($3 as timestamptz), s.next_at)
where s.name = cast($1 as text)
returning s.name
