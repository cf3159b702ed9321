-- Deletes audit records older than keep, oldest first, max_rows at a time. Returns the number: repeat until 0.
create or replace function forebay.delete_audit(
    now timestamptz default null, keep interval default '365 days', max_rows int default 10000
) returns int language plpgsql set enable_seqscan = off as $$
declare deleted int;
begin
    delete from forebay.audit a
    where a.id = any(array(select o.id from forebay.audit o order by o.id limit max_rows))
      and a.at < coalesce(now, clock_timestamp()) - keep;
    get diagnostics deleted = row_count;
    return deleted;
end $$;
