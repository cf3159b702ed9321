-- Deletes lanes of keys that are empty and have not been used since `horizon`, except those of jobs, which tidy_lanes() deletes
-- with the job. A lane that is being filled is locked, and is left out. Part of tidy_lanes().
create or replace function forebay.tidy_key_lanes(horizon timestamptz, max_rows int default 1000) returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare
    unused bigint[] := array(
        select l.id from forebay.lane l where l.limit_name <> '' and l.job_id = 0 and l.used_at < horizon
        order by l.used_at limit max_rows for update skip locked);
    deleted int;
begin
    delete from forebay.lane l
    where l.id = any(unused) and l.limit_name <> 'forebay:ordered'  -- tasks that wait in order come back to it
      and not exists (select from forebay.step s cross join lateral (
          select from forebay.ready r where r.step_id = s.id and r.lane_id = l.id limit 1) r);
    get diagnostics deleted = row_count;
    -- The others are in use. The next call looks at those behind them.
    update forebay.lane l set used_at = clock_timestamp() where l.id = any(unused);
    return deleted;
end $$;
