-- Dead letters before (before_at, before_job, before_n, before_step), or from the newest, that match the filters (null: any;
-- class '': those without one). with_reason is a masked one, see mask_reason(). Reads at most max_rows rows; those of a small job
-- are found by its id and read completely.
create or replace function forebay.find_dead_letters(
    owner_id bigint, pipeline text, job_id bigint, class text,
    before_at timestamptz, before_job bigint, before_n int, before_step int, max_letters int, max_rows int default 20000,
    with_step text default null, with_reason text default null,
    out letters forebay.dead_letter[], out next_at timestamptz, out next_job bigint, out next_n int, out next_step int
) language plpgsql stable set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    job forebay.job;
    seen record;
    looked_at int := 0;
begin
    letters := '{}';
    select j.* into job from forebay.job j where j.id = find_dead_letters.job_id;
    if find_dead_letters.job_id is not null and job.id is null then
        return;
    end if;
    -- The statement is built for each call, because the suitable index depends on the filters.
    for seen in execute
        'select d as letter, d.at, d.job_id, d.n, d.step_id,
                ($2 is null or d.step_id = any($2)) and ($3 is null or d.job_id = $3)
                and ($4 is null or coalesce(d.class, '''') = $4) as fits
         from forebay.dead_letter d where (d.at, d.job_id, d.n, d.step_id) < ($5, $6, $7, $8)'
        || case when find_dead_letters.owner_id is not null then ' and d.owner_id = $1' else '' end
        || case when job.total <= 5000 then ' and d.job_id = $3'
                when job.finished_at is not null then ' and d.at <= $9' else '' end  -- no later dead letters
        || ' order by d.at desc, d.job_id desc, d.n desc, d.step_id desc'
        using find_dead_letters.owner_id,
              case when coalesce(pipeline, with_step) is not null then array(
                  select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id
                  where (pipeline is null or p.name = pipeline) and (with_step is null or s.name = with_step)) end,
              find_dead_letters.job_id, find_dead_letters.class,
              coalesce(before_at, 'infinity'), coalesce(before_job, 9223372036854775807), coalesce(before_n, 2147483647),
              coalesce(before_step, 2147483647), job.finished_at
    loop
        if seen.fits and with_reason is not null then  -- only of those that fit otherwise: it is costly
            seen.fits := forebay.mask_reason(coalesce((seen.letter).reason, '')) = with_reason;
        end if;
        if cardinality(letters) = max_letters and seen.fits then
            next_at := letters[max_letters].at;
            next_job := letters[max_letters].job_id;
            next_n := letters[max_letters].n;
            next_step := letters[max_letters].step_id;
            return;
        elsif looked_at = max_rows then
            return;
        end if;
        looked_at := looked_at + 1;
        if seen.fits then
            letters := letters || seen.letter;
        end if;
        if looked_at = max_rows then
            next_at := seen.at;
            next_job := seen.job_id;
            next_n := seen.n;
            next_step := seen.step_id;
        end if;
    end loop;
    next_at := null;
    next_job := null;
    next_n := null;
    next_step := null;
end $$;
