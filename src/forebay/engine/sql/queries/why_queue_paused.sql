-- Who paused queue $1, if the caller may see it, among the latest 10,000 records.
select a.actor, a.at from (select * from forebay.audit order by id desc limit 10000) a
where a.action = 'pause_queue' and a.detail ->> 'queue' = $1
order by a.id desc limit 1
