-- Submits a schedule's job and sets its next time.
select forebay.run_schedule(cast($1 as text), cast($2 as timestamptz), cast($3 as timestamptz))
