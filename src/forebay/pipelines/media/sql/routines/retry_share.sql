-- Submits a new job for a share whose last has ended; what was downloaded before is not fetched again. It goes ahead of the
-- other work of its owner. Returns the job; null if there is no such share.
create or replace function forebay.retry_share(share_id bigint) returns bigint language plpgsql as $$
declare
    share forebay.share;
    submitted bigint;
begin
    select s.* into share from forebay.share s where s.id = share_id for no key update;
    if not found then
        return null;
    end if;
    if exists (select from forebay.job j where j.id = share.job_id and j.finished_at is null) then
        perform forebay.refuse('FB005', 'share', format('share %s is still being worked on by job %s', share_id, share.job_id));
    end if;
    if share.url is null and share.file_id is null then
        perform forebay.refuse('FB005', 'share', format('share %s is an upload that is not there any more: upload it again', share_id));
    end if;
    submitted := forebay.submit_share(share.owner_id, share.id, share.url, least(share.priority + 1, 100));
    update forebay.share s set
        download_status = case when s.file_id is null then 'retry' else s.download_status end, download_error = null,
        transcript_status = case when s.transcript_status = 'completed' then s.transcript_status else 'pending' end,
        transcript_error = null
    where s.id = share_id;
    return submitted;
end $$;
