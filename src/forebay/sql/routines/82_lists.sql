-- Lists over everything that there is, newest first. A filter may fit next to nothing: then a call gives up after a while, and
-- says where the next one goes on.

-- Jobs before id `before` (null: from the newest) that fit the filters, which may be null; at most max_rows are looked at.
create or replace function forebay.find_jobs(
    owner_id bigint, before bigint, pipeline text, state forebay.job_state, since timestamptz, until timestamptz,
    max_jobs int, max_rows int default 20000, out ids bigint[], out next_before bigint
) language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    job record;
    looked_at int := 0;
begin
    ids := '{}';
    -- Written out for each call: the index that fits depends on which filters there are.
    for job in execute
        'select j.id, ($2 is null or j.pipeline_id = (select p.id from forebay.pipeline p where p.name = $2))
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

-- Attempts before (before_at, before_token, before_n), or from the newest. Those of one item, or of a small job, are found by
-- their index; others by going back in time, in steps that grow while nothing is found, for about as long as `effort`.
create or replace function forebay.find_attempts(
    owner_id bigint, job_id bigint, n int, step text, outcome forebay.outcome, worker text,
    before_at timestamptz, before_token bigint, before_n int, max_attempts int, effort interval default '100 ms',
    out attempts forebay.attempt[], out next_at timestamptz, out next_token bigint, out next_n int
) language plpgsql stable set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
    job forebay.job;
    steps constant int[] := case when step is not null then array(select s.id from forebay.step s where s.name = step) end;
    workers constant bigint[] :=
        case when worker is not null then array(select w.id from forebay.worker w where w.name = worker) end;
    began constant timestamptz := clock_timestamp();
    came timestamptz := began;
    took interval;
    low timestamptz;
    high timestamptz := coalesce(before_at, 'infinity');
    given_up constant bigint := 9223372036854775807;  -- instead of a token, and then the stride instead of an item
    stride int := case when before_token = given_up then before_n else 0 end;  -- so many times fourfold
begin
    attempts := '{}';
    select j.* into job from forebay.job j where j.id = find_attempts.job_id;
    if job_id is not null and job.id is null then
        return;
    elsif job.id is not null and (n is not null or job.total <= 5000) then
        attempts := array(
            select a from forebay.attempt a
            where a.job_id = job.id and (find_attempts.n is null or a.n = find_attempts.n)
              and (before_at is null or (a.ended_at, a.token, a.n) < (before_at, before_token, before_n))
              and (steps is null or a.step_id = any(steps)) and (workers is null or a.worker_id = any(workers))
              and (find_attempts.outcome is null or a.outcome = find_attempts.outcome)
              and (find_attempts.owner_id is null or a.owner_id = find_attempts.owner_id)
            order by a.ended_at desc, a.token desc, a.n desc limit max_attempts + 1);
    else
        low := least(high, coalesce(job.updated_at, began));
        loop
            low := case
                when stride > 15 or low < job.created_at - interval '1 day' then '-infinity'
                else low - interval '1 s' * 4 ^ stride end;
            attempts := attempts || array(
                select a from forebay.attempt a
                where a.ended_at > low and a.ended_at <= high
                  and (before_at is null or (a.ended_at, a.token, a.n) < (before_at, before_token, before_n))
                  and (find_attempts.job_id is null or a.job_id = find_attempts.job_id)
                  and (steps is null or a.step_id = any(steps)) and (workers is null or a.worker_id = any(workers))
                  and (find_attempts.outcome is null or a.outcome = find_attempts.outcome)
                  and (find_attempts.owner_id is null or a.owner_id = find_attempts.owner_id)
                order by a.ended_at desc, a.token desc, a.n desc limit max_attempts + 1 - cardinality(attempts));
            exit when cardinality(attempts) > max_attempts or low = '-infinity';
            took := clock_timestamp() - came;
            came := clock_timestamp();
            stride := greatest(stride + case
                when took < '10 ms' then 2 when took < '100 ms' then 1 when took > '400 ms' then -1 else 0 end, 0);
            if came - began > effort then
                next_at := low;  -- what ended at that very moment is still to come
                next_token := given_up;
                next_n := stride;
                return;
            end if;
            high := low;
        end loop;
    end if;
    if cardinality(attempts) > max_attempts then
        attempts := attempts[:max_attempts];
        next_at := attempts[max_attempts].ended_at;
        next_token := attempts[max_attempts].token;
        next_n := attempts[max_attempts].n;
    end if;
end $$;

-- Tasks that failed for good, before (before_at, before_job, before_n, before_step) or from the newest, that fit the filters,
-- which may be null; at most max_rows are looked at. All those of a small job are: they are found by its id.
create or replace function forebay.find_dead_letters(
    owner_id bigint, pipeline text, job_id bigint, class text,
    before_at timestamptz, before_job bigint, before_n int, before_step int, max_letters int, max_rows int default 20000,
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
    -- Written out for each call: the index that fits depends on which filters there are.
    for seen in execute
        'select d as letter, d.at, d.job_id, d.n, d.step_id,
                ($2 is null or d.step_id = any($2)) and ($3 is null or d.job_id = $3) and ($4 is null or d.class = $4) as fits
         from forebay.dead_letter d where (d.at, d.job_id, d.n, d.step_id) < ($5, $6, $7, $8)'
        || case when find_dead_letters.owner_id is not null then ' and d.owner_id = $1' else '' end
        || case when job.total <= 5000 then ' and d.job_id = $3'
                when job.finished_at is not null then ' and d.at <= $9' else '' end  -- nothing of it failed later
        || ' order by d.at desc, d.job_id desc, d.n desc, d.step_id desc'
        using find_dead_letters.owner_id,
              case when pipeline is not null then array(
                  select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id where p.name = pipeline) end,
              find_dead_letters.job_id, find_dead_letters.class,
              coalesce(before_at, 'infinity'), coalesce(before_job, 9223372036854775807), coalesce(before_n, 2147483647),
              coalesce(before_step, 2147483647), job.finished_at
    loop
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
