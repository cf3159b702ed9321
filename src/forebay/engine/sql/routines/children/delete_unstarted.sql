-- Deletes children whose task did not get to start them: its worker was lost, or its step failed while they were stored. The
-- worker that holds the task is the only one who can start them, so nobody starts them once the lease is gone.
create or replace function forebay.delete_unstarted(max_rows int) returns bigint
language plpgsql set enable_seqscan = off as $$
declare
    doomed bigint;
    deleted bigint := 0;
begin
    for doomed in
        select c.id from forebay.job c
        where c.parent_id is not null and not c.sealed and not exists (
            select from forebay.lease l join forebay.step s on s.id = l.step_id
            where l.job_id = c.parent_id and l.ns @> c.parent_n and s.bit = c.parent_bit)
        order by c.id limit 100
    loop
        exit when deleted >= max_rows;
        deleted := deleted + forebay.delete_job(doomed, max_rows - deleted);
    end loop;
    return deleted;
end $$;
