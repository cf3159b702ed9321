-- Submits the job of an instance, unless one is open. Returns the job.
create or replace function forebay.submit_attachments(owner text, instance_id bigint, trace text default null)
returns bigint language plpgsql as $$
declare
    submitted bigint;
begin
    select s.job_id into submitted from forebay.submit(
        forebay.traced('attachments', trace), jsonb_build_object('instance_id', instance_id), owner, instance_id::text,
        meta => jsonb_build_object('instanceId', instance_id::text), unique_states => '{QUEUED,RUNNING,PAUSED}') s;
    update forebay.attachment_instance i set job_id = submitted where i.id = instance_id and i.job_id is distinct from submitted;
    return submitted;
end $$;
