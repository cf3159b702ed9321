-- Streams: jobs whose items come batch by batch, each in a transaction that also says how far the source was read.
-- A stream that broke off goes on behind job.loaded; of two that write to one job at once, one is refused.

-- Begins a batch: nobody else may until the transaction ends. Tells how many items there are, and which of the keys they have.
create or replace function forebay.begin_batch(
    job_id bigint, loaded bigint, keys text[], out total int, out taken text[]
) language plpgsql as $$
#variable_conflict use_column
declare job forebay.job := forebay.lock_job(job_id);
begin
    if job.sealed then
        perform forebay.refuse('FB005', 'key', format('job %s takes no more items: it is %s', job.id, job.state));
    elsif job.loaded <> begin_batch.loaded then
        perform forebay.refuse('FB005', 'key', format(
            'another process streams to job %s: it has read %s rows of its source, this one %s', job.id, job.loaded, loaded));
    end if;
    total := job.total;
    taken := array(select i.key from forebay.item i where i.job_id = job.id and i.key = any(keys));
end $$;

-- Ends a batch whose items have been stored: counts them, and makes those from first_ns[i] to last_ns[i] claimable.
-- rows: how far the source was read for it; broken: how many of its items are in error already.
create or replace function forebay.append(
    job_id bigint, loaded bigint, rows int, items int, broken int, first_ns int[], last_ns int[],
    run_at timestamptz default null, now timestamptz default null
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    loaded_now bigint;
    run record;
begin
    update forebay.job j set
        loaded = j.loaded + append.rows, total = j.total + append.items, error = j.error + append.broken, updated_at = at
    where j.id = append.job_id and j.loaded = append.loaded and not j.sealed
    returning j.loaded into loaded_now;
    if loaded_now is null then
        perform forebay.refuse('FB005', 'key', format('another process streams to job %s, or it has ended', job_id));
    end if;
    if broken > 0 then
        insert into forebay.tally (owner_id, pipeline_id, error)
        select j.owner_id, j.pipeline_id, broken from forebay.job j where j.id = append.job_id;
    end if;
    for run in select * from unnest(first_ns, last_ns) r(first_n, last_n) loop
        perform forebay.enqueue(append.job_id, run.first_n, run.last_n, append.run_at, at);
    end loop;
    return loaded_now;
end $$;

-- Says that no more items come. When all of them have ended already, so does the job, or its own steps begin.
create or replace function forebay.seal(job_id bigint, loaded bigint default null, now timestamptz default null)
returns forebay.job_state language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
begin
    if job.sealed then
        return job.state;
    elsif job.loaded <> seal.loaded then
        perform forebay.refuse('FB005', 'key', format(
            'another process streams to job %s: it has read %s rows of its source, this one %s', job.id, job.loaded, loaded));
    end if;
    -- Counters are read under the row's lock: a settle either came before, or sees the job sealed.
    update forebay.job j set sealed = true, updated_at = at where j.id = seal.job_id returning j.* into job;
    if job.done + job.skipped + job.not_found + job.error < job.total then
        return job.state;
    end if;
    if job.total > 0 and job.job_steps <> 0 then
        perform forebay.begin_own_steps(job, at);
    else
        job.finished_at := at;
    end if;
    update forebay.job j set
        state = case when job.total = 0 then 'DONE' else forebay.state_after(job, 0, 0, 0, null) end,
        started_at = coalesce(j.started_at, at), finished_at = job.finished_at
    where j.id = job.id returning j.state into job.state;
    return job.state;
end $$;

-- Makes the job's own item, and the steps on it claimable that wait for nothing but the end of all items.
create or replace function forebay.begin_own_steps(job forebay.job, at timestamptz) returns void
language plpgsql as $$
declare run record;
begin
    insert into forebay.item (job_id, n, owner_id, pipeline_id, input, created_at, updated_at)
    values (job.id, 0, job.owner_id, job.pipeline_id, '{}', at, at);
    for run in
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        select s.id, job.lane_id, job.id, job.owner_id, 0, 0 from forebay.step s
        where s.pipeline_id = job.pipeline_id and s.active and s.after_all and s.needs = 0 and s.bit & job.job_steps <> 0
        returning step_id, lane_id, seq
    loop
        perform forebay.wake(run.step_id, run.lane_id, run.seq, at);
    end loop;
end $$;
