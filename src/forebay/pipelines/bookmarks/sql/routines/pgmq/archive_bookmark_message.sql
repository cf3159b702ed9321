-- Cancels a message, or removes one that failed permanently.
create or replace function forebay.archive_bookmark_message(queue_name text, message_id bigint) returns boolean
language plpgsql as $$
declare message forebay.bookmark_messages;
begin
    perform forebay.check_bookmark_queue(queue_name);
    select m.* into message from forebay.bookmark_messages m where m.msg_id = message_id and m.archived_at is null;
    if message.msg_id is null then
        return false;
    elsif message.finished_at is null then
        return forebay.cancel(message_id, 'pgmq_public');
    end if;
    return forebay.dismiss(message_id, actor => 'pgmq_public') > 0;
end $$;
