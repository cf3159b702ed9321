-- Jobs before id `before` (null: from the newest) that match the filters (null: any), without children. Reads at most max_rows rows.
create or replace function forebay.find_jobs(
    owner_id bigint, before bigint, pipeline text, state forebay.job_state, since timestamptz, until timestamptz,
    max_jobs int, max_rows int default 20000, out ids bigint[], out next_before bigint
) language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    job record;
    looked_at int := 0;
begin
    ids := '{}';
    -- The statement is built for each call, because the suitable index depends on the filters.
    for job in execute
        'select j.id, j.parent_id is null and ($2 is null or j.pipeline_id = (select p.id from forebay.pipeline p where p.name = $2))
                      and ($3 is null or j.state = $3)
                      and ($4 is null or j.created_at >= $4) and ($5 is null or j.created_at < $5) as fits
         from forebay.job j where j.id < $6'
        || case when owner_id is not null then ' and j.owner_id = $1' else '' end
        || case when state in ('QUEUED', 'RUNNING', 'PAUSED') then ' and j.finished_at is null' else '' end
        || ' order by j.id desc'
        using owner_id, pipeline, state, since, until, coalesce(before, 9223372036854775807)
    loop
        if cardinality(ids) = max_jobs and job.fits then
            next_before := ids[max_jobs];
            return;
        elsif looked_at = max_rows then
            return;
        end if;
        looked_at := looked_at + 1;
        if job.fits then
            ids := ids || job.id;
        end if;
        next_before := case when looked_at = max_rows then job.id end;
    end loop;
    next_before := null;
end $$;
