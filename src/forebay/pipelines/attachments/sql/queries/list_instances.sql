-- Instances below id $1 that the caller may see, newest first: at most $2, of source $3, with a file in state $4, or a text $5 in title or key.
select i.id, i.source, i.key, i.title, i.state, i.voucher, i.voucher_id, i.problem, i.skipped, i.job_id, i.created_at, i.received_at,
       i.read_at, i.settled_at, c.pending, c.downloaded, c.failed, c.bytes
from forebay.attachment_instance i
cross join lateral (
    select count(*) filter (where a.status = 'PENDING') as pending, count(*) filter (where a.status = 'DOWNLOADED') as downloaded,
           count(*) filter (where a.status = 'FAILED') as failed, coalesce(sum(a.size), 0)::bigint as bytes
    from forebay.attachment a where a.instance_id = i.id) c
where i.id < $1 and ($3::text is null or i.source = $3)
  and ($4::text is null or exists (select from forebay.attachment a where a.instance_id = i.id and a.status = $4))
  and ($5::text is null or strpos(lower(coalesce(i.title, '')), lower($5)) > 0 or strpos(lower(i.key), lower($5)) > 0)
order by i.id desc
limit $2
