-- What a job needs of instance $1.
select i.id, i.owner_id, i.source, i.key, i.title, i.state, i.facts, i.skipped, i.received_at, i.created_at
from forebay.attachment_instance i
where i.id = $1
