-- How many requests each app has sent in the last 24 hours, and the hour in which the oldest of them was.
select q.app, sum(q.used)::int as used, min(q.hour) as since
from forebay.attachment_quota q
where q.hour >= date_trunc('hour', clock_timestamp()) - interval '24 hours'
group by q.app
order by q.app
