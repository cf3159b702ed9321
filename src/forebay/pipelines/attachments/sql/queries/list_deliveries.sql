-- Requests of senders below id $1, newest first: at most $2, of source $3, with verdict $4, for instance $5.
select d.id, d.source, d.verdict, d.reason, d.key, d.event, d.bytes, host(d.ip) as ip, d.instance_id, d.received_at
from forebay.attachment_delivery d
where d.id < $1 and ($3::text is null or d.source = $3) and ($4::text is null or d.verdict = $4)
  and ($5::bigint is null or d.instance_id = $5)
order by d.id desc
limit $2
