-- Records a change of a queue in the audit log, and notifies the workers.
create or replace function forebay.tell_queue(name text, actor text, action text, detail jsonb, at timestamptz)
returns void language plpgsql as $$
begin
    perform forebay.note(actor, action, null, null, null, jsonb_build_object('queue', name) || coalesce(detail, '{}'), at);
    perform pg_notify('forebay', 'queue ' || name);
end $$;
