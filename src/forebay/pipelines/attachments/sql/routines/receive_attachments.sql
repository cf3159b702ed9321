-- Takes a delivery: notes it, adds or updates its instance with the files that it names, and submits a job. The job of an
-- instance that is still open is not submitted again: its last step sees that a delivery came after the form was read.
create or replace function forebay.receive_attachments(
    owner_id bigint, source text, key text, kept_s float8, event text, bytes int, ip inet, instance_key text, title text,
    state text, facts jsonb, files jsonb, trace text default null,
    out is_new boolean, out instance_id bigint, out job_id bigint
) language plpgsql as $$
#variable_conflict use_column
declare
    owner text;
begin
    insert into forebay.webhook_delivery (owner_id, source, key, kept_until)
    values (receive_attachments.owner_id, 'attachments/' || receive_attachments.source, receive_attachments.key,
            coalesce(clock_timestamp() + make_interval(secs => kept_s), 'infinity'))
    on conflict do nothing;
    is_new := found;
    if is_new and instance_key is not null then
        select o.name into strict owner from forebay.owner o where o.id = receive_attachments.owner_id;
        insert into forebay.attachment_instance as i (owner_id, source, key, title, state, facts)
        values (receive_attachments.owner_id, receive_attachments.source, instance_key, receive_attachments.title,
                receive_attachments.state, coalesce(receive_attachments.facts, '[]'))
        on conflict (owner_id, source, key) do update set
            received_at = clock_timestamp(),
            title = coalesce(excluded.title, i.title),
            state = coalesce(excluded.state, i.state),
            facts = case when receive_attachments.facts is null then i.facts else excluded.facts end
        returning i.id into instance_id;
        if files is not null then
            perform forebay.add_attachments(receive_attachments.owner_id, instance_id, files);
        end if;
        job_id := forebay.submit_attachments(owner, instance_id, trace);
    end if;
    insert into forebay.attachment_delivery (owner_id, source, verdict, key, event, bytes, ip, instance_id)
    values (receive_attachments.owner_id, receive_attachments.source,
            case when not is_new then 'DUPLICATE' when instance_key is null then 'IGNORED' else 'ACCEPTED' end,
            receive_attachments.key, receive_attachments.event, receive_attachments.bytes, receive_attachments.ip, instance_id);
end $$;
