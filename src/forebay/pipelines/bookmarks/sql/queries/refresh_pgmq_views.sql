-- Lets the views of offer_pgmq(), where they were asked for, read the schema that has come in place of the old one. They are
-- replaced, not made anew: rights on them, and what others have built upon them, stay.
do $$
begin
    if exists (select from pg_class c where c.oid = to_regclass('pgmq_public.add_bookmark_url_queue') and c.relkind = 'v')
        and to_regclass('pgmq.meta') is null
    then
        perform forebay.offer_pgmq();
    end if;
end $$
