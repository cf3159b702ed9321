-- Instance $1 with its facts and the counts of its files.
select i.id, i.owner_id, i.source, i.key, i.title, i.state, i.facts, i.voucher, i.voucher_id, i.problem, i.skipped, i.job_id,
       i.created_at, i.received_at, i.seen_at, i.read_at, i.settled_at, j.state::text as job_state, c.pending, c.downloaded, c.failed, c.bytes
from forebay.attachment_instance i
left join forebay.job j on j.id = i.job_id
cross join lateral (
    select count(*) filter (where a.status = 'PENDING') as pending, count(*) filter (where a.status = 'DOWNLOADED') as downloaded,
           count(*) filter (where a.status = 'FAILED') as failed, coalesce(sum(a.size), 0)::bigint as bytes
    from forebay.attachment a where a.instance_id = i.id) c
where i.id = $1
