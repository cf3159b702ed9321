-- Submits a message of the earlier queue. For one without a user, the step decides on the owner.
create or replace function forebay.send_bookmark_message(queue_name text, message jsonb) returns bigint language plpgsql as $$
begin
    perform forebay.check_bookmark_queue(queue_name);
    return (select s.job_id from forebay.submit(
        'bookmarks', message, coalesce(nullif(message ->> 'userId', ''), 'unowned'), null, 0, null, false, null) s);
end $$;
