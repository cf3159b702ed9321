-- Deletes expired sessions, links that ended a month ago, and sign-in failures of the day before, at most max_rows of each.
-- Returns the number: repeat until 0.
create or replace function forebay.tidy_identity(now timestamptz default null, max_rows int default 10000)
returns bigint language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    gone bigint;
    deleted bigint := 0;
begin
    delete from forebay.session where ctid = any(array(
        select s.ctid from forebay.session s where s.expires_at < at limit max_rows));
    get diagnostics deleted = row_count;
    delete from forebay.invitation where ctid = any(array(
        select i.ctid from forebay.invitation i where i.expires_at < at - interval '30 days' limit max_rows));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    delete from forebay.sign_in_failure where ctid = any(array(
        select f.ctid from forebay.sign_in_failure f where f.last_at < at - interval '1 day' limit max_rows));
    get diagnostics gone = row_count;
    return deleted + gone;
end $$;
