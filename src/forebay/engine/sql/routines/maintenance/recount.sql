-- Recomputes the tallies from the jobs, while no job changes: for administrators who deleted jobs manually.
create or replace function forebay.recount() returns void language plpgsql as $$
begin
    lock table forebay.job in share row exclusive mode;
    lock table forebay.tally in exclusive mode;
    delete from forebay.tally;
    insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
    select j.owner_id, j.pipeline_id, sum(j.done), sum(j.skipped), sum(j.not_found), sum(j.error)
    from forebay.job j group by j.owner_id, j.pipeline_id;
end $$;
