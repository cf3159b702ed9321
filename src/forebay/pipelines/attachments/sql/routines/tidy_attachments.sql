-- Deletes deliveries from before this time and counts that no quota looks at; submits jobs for instances whose newest delivery came
-- while their last job was ending. Returns how many rows and jobs there were.
create or replace function forebay.tidy_attachments(before timestamptz, out deleted int, out submitted int) language plpgsql as $$
begin
    delete from forebay.attachment_delivery d where d.id = any(array(
        select o.id from forebay.attachment_delivery o where o.received_at < before order by o.received_at limit 5000));
    get diagnostics deleted = row_count;
    delete from forebay.attachment_quota q where q.hour < clock_timestamp() - interval '3 days';
    select count(forebay.submit_attachments(o.name, i.id)) into submitted
    from forebay.attachment_instance i
    join forebay.owner o on o.id = i.owner_id
    join forebay.job j on j.id = i.job_id
    where i.received_at > i.seen_at and i.received_at < clock_timestamp() - interval '1 minute'
      and j.state = 'DONE';
end $$;
