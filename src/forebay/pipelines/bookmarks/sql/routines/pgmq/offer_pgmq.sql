-- Creates the functions by which other programs use the queue of bookmarks, in the schemas pgmq and pgmq_public. On request only:
-- those schemas belong to an extension that may be installed, now or later.
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
    perform forebay.set_security_invoker(
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
