-- Deletes stored responses (Idempotency-Key) that are older than a day, at most max_rows. Returns the number: repeat until 0.
create or replace function forebay.tidy_answers(now timestamptz default null, max_rows int default 10000)
returns bigint language plpgsql as $$
declare
    deleted bigint;
begin
    delete from forebay.idempotency where ctid = any(array(
        select k.ctid from forebay.idempotency k
        where k.created_at < coalesce(now, clock_timestamp()) - interval '1 day' limit max_rows));
    get diagnostics deleted = row_count;
    return deleted;
end $$;
