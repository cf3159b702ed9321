-- For what the task ($1, $2) of step $3 has waited: the signal that came, or that none came in time ($4: now).
select w.name, w.key, cast(w.payload as text) as payload, w.signalled_at is not null as came,
       w.expires_at <= coalesce(cast($4 as timestamptz), clock_timestamp()) as expired
from forebay.waiting w
where w.job_id = $1 and w.n = $2 and w.bit = (select s.bit from forebay.step s where s.id = $3)
