-- Notes a request that was not a delivery: rejected, or a check of the address. Of each source, no more than 200 in an hour, because
-- anybody can send them.
create or replace function forebay.reject_attachments(
    owner_id bigint, source text, verdict text, reason text, bytes int, ip inet
) returns void language sql as $$
insert into forebay.attachment_delivery (owner_id, source, verdict, reason, bytes, ip)
select reject_attachments.owner_id, reject_attachments.source, reject_attachments.verdict, left(reject_attachments.reason, 500),
       reject_attachments.bytes, reject_attachments.ip
where (select count(*) from (
    select from forebay.attachment_delivery d
    where d.source = reject_attachments.source and d.verdict in ('REJECTED', 'CHALLENGE')
      and d.received_at > clock_timestamp() - interval '1 hour' limit 200) few) < 200
$$;
