-- Continues what was done to jobs with many children, and deletes children that will never start. Returns the number of changed
-- jobs and deleted rows: repeat until 0.
create or replace function forebay.sweep_children(now timestamptz default null, max_jobs int default 500, max_rows int default 10000)
returns bigint language plpgsql set enable_seqscan = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    change bigint;
    swept bigint := 0;
begin
    for change in select k.job_id from forebay.child_change k order by k.job_id limit max_jobs loop
        exit when swept >= max_jobs;
        -- The lock of the job is the first of all: one who changes the job waits for no lock of this.
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', change));
        swept := swept + forebay.continue_change(change, (max_jobs - swept)::int, at);
    end loop;
    return swept + forebay.delete_unstarted(max_rows);
end $$;
