-- Gives the results of these jobs' items the names that the steps have in the version to which the jobs have changed: a step
-- is known by its bit, its results by its name. A result of a step that an older version had may have any of its names.
create or replace function forebay.rename_results(jobs bigint[], old_version int, new_version int) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    old_names text[];
    new_names text[];
begin
    select array_agg(r.old_name), array_agg(r.new_name) into old_names, new_names
    from (
        select distinct o.name as old_name, n.name as new_name
        from forebay.version_step n
        join forebay.pipeline_version w on w.id = new_version
        join forebay.pipeline_version v on v.pipeline_id = w.pipeline_id
        join forebay.version_step o on o.version_id = v.id and o.bit = n.bit and o.name <> n.name
        where n.version_id = new_version
          and not exists (select from forebay.version_step x where x.version_id = old_version and x.name = o.name and x.bit <> n.bit)
    ) r;
    if old_names is not null then
        update forebay.item i set result = (
            select jsonb_object_agg(coalesce(r.new_name, e.key), e.value order by r.new_name is not null)
            from jsonb_each(i.result) e left join unnest(old_names, new_names) r(old_name, new_name) on r.old_name = e.key)
        where i.job_id = any(jobs) and i.result ?| old_names;
    end if;
end $$;
