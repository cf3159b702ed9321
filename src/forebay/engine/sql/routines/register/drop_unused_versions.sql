-- Deletes the versions of a pipeline that no job has, but the present one and `version`: their bits are free again.
create or replace function forebay.drop_unused_versions(pipe forebay.pipeline, version int) returns void
language plpgsql as $$
begin
    delete from forebay.pipeline_version v
    where v.pipeline_id = pipe.id and v.id not in (pipe.version_id, drop_unused_versions.version)
      and not forebay.has_workers(v.id, clock_timestamp())
      and not exists (select from forebay.job j where j.pipeline_id = pipe.id and coalesce(j.version_id, -j.pipeline_id) = v.id);
end $$;
