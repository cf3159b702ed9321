-- Attempts before (before_at, before_token, before_n), or from the newest, that match the filters (null: any). Those of one item,
-- or of a small job, are found by index; others by going back in time, in steps that grow while nothing is found, for about
-- `effort`.
create or replace function forebay.search_attempts(
    owner_id bigint, job_id bigint, n int, step text, outcome forebay.outcome, worker text, error_class text,
    since timestamptz, until timestamptz, before_at timestamptz, before_token bigint, before_n int, max_attempts int,
    effort interval default '100 ms',
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
    oldest constant timestamptz := coalesce(since - interval '1 us', '-infinity');  -- attempts that ended after it
    high timestamptz := least(before_at, until - interval '1 us', 'infinity');
    given_up constant bigint := 9223372036854775807;  -- replaces the token; before_n is then the stride
    stride int := case when before_token = given_up then before_n else 0 end;  -- exponent of 4
begin
    attempts := '{}';
    select j.* into job from forebay.job j where j.id = search_attempts.job_id;
    if job_id is not null and job.id is null then
        return;
    elsif job.id is not null and (n is not null or job.total <= 5000) then
        attempts := array(
            select a from forebay.attempt a
            where a.job_id = job.id and (search_attempts.n is null or a.n = search_attempts.n)
              and (before_at is null or (a.ended_at, a.token, a.n) < (before_at, before_token, before_n))
              and (steps is null or a.step_id = any(steps)) and (workers is null or a.worker_id = any(workers))
              and (search_attempts.outcome is null or a.outcome = search_attempts.outcome)
              and (error_class is null or a.class = error_class) and a.ended_at > oldest and a.ended_at <= high
              and (search_attempts.owner_id is null or a.owner_id = search_attempts.owner_id)
            order by a.ended_at desc, a.token desc, a.n desc limit max_attempts + 1);
    else
        low := least(high, coalesce(job.updated_at, began));
        loop
            low := case
                when stride > 15 or low < job.created_at - interval '1 day' then oldest
                else greatest(low - interval '1 s' * 4 ^ stride, oldest) end;
            attempts := attempts || array(
                select a from forebay.attempt a
                where a.ended_at > low and a.ended_at <= high
                  and (before_at is null or (a.ended_at, a.token, a.n) < (before_at, before_token, before_n))
                  and (search_attempts.job_id is null or a.job_id = search_attempts.job_id)
                  and (steps is null or a.step_id = any(steps)) and (workers is null or a.worker_id = any(workers))
                  and (search_attempts.outcome is null or a.outcome = search_attempts.outcome)
                  and (error_class is null or a.class = error_class)
                  and (search_attempts.owner_id is null or a.owner_id = search_attempts.owner_id)
                order by a.ended_at desc, a.token desc, a.n desc limit max_attempts + 1 - cardinality(attempts));
            exit when cardinality(attempts) > max_attempts or low <= oldest;
            took := clock_timestamp() - came;
            came := clock_timestamp();
            stride := greatest(stride + case
                when took < '10 ms' then 2 when took < '100 ms' then 1 when took > '400 ms' then -1 else 0 end, 0);
            if came - began > effort then
                next_at := low;  -- attempts that ended at this exact time are on the next page
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
