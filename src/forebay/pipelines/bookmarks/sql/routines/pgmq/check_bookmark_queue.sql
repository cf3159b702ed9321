-- Rejects a queue name other than that of bookmarks.
create or replace function forebay.check_bookmark_queue(queue_name text) returns void language plpgsql as $$
begin
    if queue_name is distinct from 'add-bookmark-url-queue' then
        perform forebay.refuse('FB004', 'queue_name', format('there is no queue %L here; there is add-bookmark-url-queue', queue_name));
    end if;
end $$;
