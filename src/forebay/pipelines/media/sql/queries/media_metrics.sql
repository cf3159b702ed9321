-- The open shares by the status of their download, and the downloads of the last hour. now() and not
-- clock_timestamp(), which is volatile: no index could be searched by it.
select
    (select coalesce(jsonb_object_agg(c.download_status, c.shares), '{}') from (
        select s.download_status, count(*) as shares from forebay.share s
        where s.download_status in ('pending', 'processing', 'retry', 'failed') group by 1) c)::text as open,
    h.completed, h.seconds, f.failure_ratio, b.bytes
from (
    select count(*) as completed, avg(extract(epoch from s.download_completed_at - s.download_started_at))::float8 as seconds
    from forebay.share s
    where s.file_id is not null and s.download_completed_at > now() - interval '1 hour') h,
    (select (count(*) filter (where s.download_status = 'failed'))::float8 / nullif(count(*), 0) as failure_ratio
     from forebay.share s where s.created_at > now() - interval '1 hour') f,
    (select coalesce(sum(s.size), 0)::bigint as bytes from forebay.share s where s.file_id is not null) b
