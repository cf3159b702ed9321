-- Deletes up to max_rows rows of a job, its children first, and at last the job itself. Returns the number of rows; fewer than
-- max_rows mean that the job is gone.
create or replace function forebay.delete_job(doomed bigint, max_rows bigint) returns bigint
language plpgsql set enable_seqscan = off as $$
declare
    child bigint;
    gone bigint;
    deleted bigint := 0;
begin
    while deleted < max_rows loop
        select c.id into child from forebay.job c where c.parent_id = doomed order by c.parent_n, c.id limit 1;
        exit when child is null;
        perform pg_advisory_xact_lock(hashtextextended('forebay.job', child));
        deleted := deleted + forebay.delete_job(child, max_rows - deleted);
    end loop;
    if deleted < max_rows then
        delete from forebay.item i where i.job_id = doomed and i.n = any(array(
            select d.n from forebay.item d where d.job_id = doomed order by d.n limit max_rows - deleted));
        get diagnostics gone = row_count;
        deleted := deleted + gone;
    end if;
    if deleted < max_rows then
        deleted := deleted + forebay.delete_jobs(array[doomed]);
    end if;
    return deleted;
end $$;
