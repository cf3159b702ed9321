-- Continues what cancel() started, for at most max_items items. Returns the number of ended items: repeat until 0.
create or replace function forebay.reap_cancelled(now timestamptz default null, max_items int default 10000)
returns int language plpgsql set enable_seqscan = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    cancelling forebay.job;
    ended int := 0;
begin
    for cancelling in
        select j.* from forebay.job j where j.state = 'CANCELLED' and j.finished_at is null order by j.id
    loop
        exit when ended >= max_items;
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', cancelling.id));
        select j.* into cancelling from forebay.job j
        where j.id = cancelling.id and j.state = 'CANCELLED' and j.finished_at is null;
        continue when not found;
        delete from forebay.scheduled s where s.job_id = cancelling.id;
        perform forebay.flag_leases(cancelling.id);
        -- While workers hold all open items, there is nothing to end.
        if cancelling.total - cancelling.done - cancelling.skipped - cancelling.not_found - cancelling.error > (
            select coalesce(sum(upper(r) - lower(r)), 0) from forebay.lease l cross join lateral unnest(l.ns) r
            where l.job_id = cancelling.id)
            or exists (select from forebay.item i where i.job_id = cancelling.id and i.n = 0 and i.status = 'PENDING')
        then
            ended := ended + coalesce(forebay.end_open_items(cancelling, max_items - ended, at), 0);
        end if;
    end loop;
    return ended;
end $$;
