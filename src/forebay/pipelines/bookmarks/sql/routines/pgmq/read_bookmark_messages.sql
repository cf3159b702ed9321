-- Lists the oldest open messages. Reading does not hide them: workers process messages anyway.
create or replace function forebay.read_bookmark_messages(queue_name text, sleep_seconds int, n int)
returns table (msg_id bigint, read_ct int, enqueued_at timestamptz, vt timestamptz, message jsonb)
language plpgsql stable as $$
begin
    perform forebay.check_bookmark_queue(queue_name);
    if sleep_seconds <> 0 then
        perform forebay.refuse('FB002', 'sleep_seconds', 'must be 0: messages are not hidden here, workers take them by themselves');
    end if;
    return query
    select m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message from forebay.bookmark_messages m
    where m.archived_at is null order by m.msg_id limit n;
end $$;
