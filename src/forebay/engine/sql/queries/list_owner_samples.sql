-- The samples of owners since $1, the oldest first.
select s.minute, o.name as owner, s.ready, s.running, s.attempts_per_s, s.fair_share
from forebay.owner_sample s
join forebay.owner o on o.id = s.owner_id
where s.minute >= $1::timestamptz
order by s.minute, s.owner_id
