-- The instances that these jobs, or the jobs that they belong to, are about.
select j.id as job_id, i.id, i.title, i.key
from unnest($1::bigint[]) as j(id)
join forebay.job jj on jj.id = j.id
join forebay.attachment_instance i on i.id = (jj.meta ->> 'instanceId')::bigint
