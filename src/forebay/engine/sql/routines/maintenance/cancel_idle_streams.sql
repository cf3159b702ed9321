-- Cancels jobs whose stream was not continued for `idle`, although all of their items have ended: nobody will end the stream.
-- Paused jobs stay. Returns how many were cancelled, at most max_jobs: repeat until 0.
create or replace function forebay.cancel_idle_streams(
    now timestamptz default null, idle interval default '30 days', max_jobs int default 100
) returns int language plpgsql set enable_seqscan = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    stream forebay.job;
    cancelled int := 0;
begin
    for stream in
        select j.* from forebay.job j
        where not j.sealed and j.parent_id is null and j.finished_at is null and j.state in ('QUEUED', 'RUNNING')
          and j.updated_at < at - idle and j.done + j.skipped + j.not_found + j.error = j.total
        order by j.id limit max_jobs
    loop
        -- Under the lock of the job: it may have been continued or ended meanwhile.
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', stream.id));
        continue when not exists (
            select from forebay.job j where j.id = stream.id and not j.sealed and j.finished_at is null and j.updated_at = stream.updated_at);
        perform forebay.cancel(stream.id, 'forebay', at);
        cancelled := cancelled + 1;
    end loop;
    return cancelled;
end $$;
