-- If no worker has run the present version of a pipeline for `after`, the newest version whose steps all have workers becomes
-- the present one. This happens when workers of an earlier release have started before the last present one has stopped.
create or replace function forebay.use_served_versions(at timestamptz, after interval) returns void language plpgsql as $$
declare
    pipe forebay.pipeline;
    served int;
begin
    for pipe in
        select p.* from forebay.pipeline p join forebay.pipeline_version v on v.id = p.version_id
        where v.unserved_since <= at - after order by p.id
    loop
        -- A worker that registers at this moment is seen when its transaction has ended: the next sweep looks again.
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.register ' || pipe.name, 4662));
        continue when forebay.keeps_new_jobs(pipe, at);
        select max(v.id) into served from forebay.pipeline_version v
        where v.pipeline_id = pipe.id and v.unserved_since is null and forebay.has_workers(v.id, at);
        if served is not null then
            perform forebay.use_version(pipe.id, served, at);
        end if;
    end loop;
end $$;
