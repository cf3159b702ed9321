-- Moves jobs of versions that no worker has run for `after` to the present version of their pipeline, if that has workers for
-- all its steps. Returns how many jobs have changed, at most max_jobs for each version: repeat until 0.
create or replace function forebay.adopt_jobs(
    now timestamptz default null, after interval default '1 minute', max_jobs int default 500
) returns int language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    old record;
    jobs bigint[];
    adopted int := 0;
begin
    perform forebay.note_unserved(at);
    perform forebay.use_served_versions(at, after);
    for old in
        select v.id, v.pipeline_id, p.version_id as present from forebay.pipeline_version v
        join forebay.pipeline p on p.id = v.pipeline_id and p.version_id <> v.id
        join forebay.pipeline_version c on c.id = p.version_id and c.unserved_since is null
        where v.unserved_since <= at - after
        order by v.id
    loop
        jobs := array(
            select j.id from forebay.job j
            where j.finished_at is null and j.state <> 'CANCELLED' and j.pipeline_id = old.pipeline_id
              and (j.sealed or j.parent_id is null)  -- children get the present version when they start
              and coalesce(j.version_id, -j.pipeline_id) = old.id
              and not exists (select from forebay.lease l where l.job_id = j.id)
            -- in the order of an index; change_version reads an owner's runs from the first of these jobs on
            order by j.owner_id, j.id limit max_jobs);
        if cardinality(jobs) > 0 then
            adopted := adopted + forebay.change_version(jobs, old.id, old.present, at);
        end if;
    end loop;
    return adopted;
end $$;
