-- Ends a batch whose items have been stored: counts them, and makes those from first_ns[i] to last_ns[i] ready.
-- rows: the position in the source after the batch; broken: how many of its items are invalid and already in error.
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
