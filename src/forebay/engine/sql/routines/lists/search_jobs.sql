-- Jobs before id `before` (null: from the newest) that match the filters (null: any), without children; words: a part of the file or key. Reads at
-- most max_rows rows: looked_at says how many, looked_to when the last of them was created.
create or replace function forebay.search_jobs(
    owner_id bigint, before bigint, pipelines text[], states forebay.job_state[], since timestamptz, until timestamptz,
    words text, min_items int, max_items int, max_jobs int, max_rows int default 20000,
    out ids bigint[], out next_before bigint, out looked_at int, out looked_to timestamptz
) language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    job record;
begin
    ids := '{}';
    looked_at := 0;
    -- The statement is built for each call, because the suitable index depends on the filters.
    for job in execute
        'select j.id, j.created_at,
                j.parent_id is null and ($2 is null or j.pipeline_id = any($2)) and ($3 is null or j.state = any($3))
                and ($4 is null or j.created_at >= $4) and ($5 is null or j.created_at < $5)
                and ($6 is null or strpos(lower(coalesce(j.file, '''') || '' '' || coalesce(j.key, '''')), $6) > 0)
                and ($7 is null or j.total >= $7) and ($8 is null or j.total <= $8) as fits
         from forebay.job j where j.id < $9'
        || case when owner_id is not null then ' and j.owner_id = $1' else '' end
        || case when states <@ '{QUEUED, RUNNING, PAUSED}' then ' and j.finished_at is null' else '' end
        || ' order by j.id desc'
        using owner_id, case when pipelines is not null then forebay.pipeline_ids(pipelines) end, states, since, until,
              lower(words), min_items, max_items, coalesce(before, 9223372036854775807)
    loop
        if cardinality(ids) = max_jobs and job.fits then
            next_before := ids[max_jobs];
            return;
        elsif looked_at = max_rows then
            return;
        end if;
        -- Ids are given in the order of time, but for jobs that are submitted at the same moment.
        exit when job.created_at < since - interval '1 day';
        looked_at := looked_at + 1;
        looked_to := job.created_at;
        if job.fits then
            ids := ids || job.id;
        end if;
        next_before := case when looked_at = max_rows then job.id end;
    end loop;
    next_before := null;
end $$;
