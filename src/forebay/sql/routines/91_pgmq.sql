-- The names by which the second source knows its queue, for programs and people that use them. They are made on request only,
-- by `select forebay.offer_pgmq()`: the schemas belong to an extension that may be here, or come.

-- Jobs of bookmarks as messages of a queue. A message is archived when all of its steps have succeeded, or by hand: one that has failed
-- for good stays in the queue as long as its dead letters do.
create or replace view forebay.bookmark_messages as
select j.id as msg_id, 0 as read_ct, j.created_at as enqueued_at, coalesce(j.started_at, j.created_at) as vt, j.finished_at, i.input as message,
       case when j.finished_at is not null and not exists (select from forebay.dead_letter d where d.job_id = j.id) then j.updated_at end
           as archived_at
from forebay.job j
join forebay.item i on i.job_id = j.id and i.n = 1
where j.pipeline_id = (select p.id from forebay.pipeline p where p.name = 'bookmarks');

-- Views see what their reader may see, where PostgreSQL can be told so.
create or replace function forebay.with_readers_eyes(variadic views text[]) returns void language plpgsql as $$
declare
    v text;
begin
    if current_setting('server_version_num')::int >= 150000 then
        foreach v in array views loop
            execute format('alter view %s set (security_invoker = true)', v);
        end loop;
    end if;
end $$;
select forebay.with_readers_eyes('forebay.bookmark_messages');

create or replace function forebay.check_bookmark_queue(queue_name text) returns void language plpgsql as $$
begin
    if queue_name is distinct from 'add-bookmark-url-queue' then
        perform forebay.refuse('FB004', 'queue_name', format('there is no queue %L here; there is add-bookmark-url-queue', queue_name));
    end if;
end $$;

-- Submits a message of the old queue. One without a user belongs to nobody yet: its step decides.
create or replace function forebay.send_bookmark_message(queue_name text, message jsonb) returns bigint language plpgsql as $$
begin
    perform forebay.check_bookmark_queue(queue_name);
    return (select s.job_id from forebay.submit(
        'bookmarks', message, coalesce(nullif(message ->> 'userId', ''), 'unowned'), null, 0, null, false, null) s);
end $$;

-- The oldest messages that are open. Nothing is hidden by that: workers take messages by themselves.
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

-- Ends the work on a message, or takes one that has failed for good off the queue.
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

create or replace function forebay.offer_pgmq() returns void language plpgsql as $$
begin
    if to_regclass('pgmq.meta') is not null then
        perform forebay.refuse('FB005', 'pgmq', 'the extension of that name is here, and has these names already');
    end if;
    create schema if not exists pgmq;
    create schema if not exists pgmq_public;
    create or replace view pgmq_public.add_bookmark_url_queue as
        select m.msg_id, m.read_ct, m.enqueued_at, m.vt, m.message from forebay.bookmark_messages m where m.archived_at is null;
    create or replace view pgmq_public.add_bookmark_url_queue_archive as
        select m.msg_id, m.read_ct, m.enqueued_at, m.archived_at, m.vt, m.message
        from forebay.bookmark_messages m where m.archived_at is not null;
    create or replace view pgmq.q_add_bookmark_url_queue as
        select * from pgmq_public.add_bookmark_url_queue;
    create or replace view pgmq.a_add_bookmark_url_queue as
        select * from pgmq_public.add_bookmark_url_queue_archive;
    perform forebay.with_readers_eyes(
        'pgmq_public.add_bookmark_url_queue', 'pgmq_public.add_bookmark_url_queue_archive',
        'pgmq.q_add_bookmark_url_queue', 'pgmq.a_add_bookmark_url_queue');
    create or replace function pgmq_public.send(queue_name text, message jsonb) returns setof bigint
        language sql as 'select forebay.send_bookmark_message(queue_name, message)';
    create or replace function pgmq_public.read(queue_name text, sleep_seconds int default 0, n int default 10)
        returns setof pgmq_public.add_bookmark_url_queue
        language sql as 'select * from forebay.read_bookmark_messages(queue_name, sleep_seconds, n)';
    create or replace function pgmq_public.archive(queue_name text, message_id bigint) returns boolean
        language sql as 'select forebay.archive_bookmark_message(queue_name, message_id)';
    create or replace function pgmq_public.delete(queue_name text, message_id bigint) returns boolean
        language sql as 'select forebay.archive_bookmark_message(queue_name, message_id)';
end $$;
