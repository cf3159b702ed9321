-- What a download needs of file $1.
select a.id, a.owner_id, a.instance_id, a.key, a.name, a.url, a.expected_size, a.expected_sha256, a.status, a.file_id, a.attempts,
       a.last_attempt_at, a.created_at, i.source, i.key as instance_key
from forebay.attachment a join forebay.attachment_instance i on i.id = a.instance_id
where a.id = $1
