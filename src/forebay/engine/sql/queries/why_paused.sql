-- Who paused job $1, or its item $2.
select a.actor, a.at from forebay.audit a
where a.job_id = $1 and a.n is not distinct from $2::int and a.action = case when $2::int is null then 'pause' else 'pause_item' end
order by a.id desc limit 1
