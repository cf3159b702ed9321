-- For what the task ($1, $2) of step $3 has waited: the signal that came, or that none came in time ($4: now), or its children.
select w.name, w.key, cast(w.payload as text) as payload, w.signalled_at is not null as came,
       w.expires_at <= coalesce(cast($4 as timestamptz), clock_timestamp()) as expired,
       c.id, c.finished_at is not null as is_over, p.name, c.total, c.done, c.skipped, c.not_found, c.error
from forebay.waiting w
left join forebay.job c on w.name = 'forebay.map' and c.id = cast(case when w.name = 'forebay.map' then w.key end as bigint)
left join forebay.pipeline p on p.id = c.pipeline_id
where w.job_id = $1 and w.n = $2 and w.bit = (select s.bit from forebay.step s where s.id = $3)
