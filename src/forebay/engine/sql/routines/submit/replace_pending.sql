-- Replaces input, priority and meta of a job that has the same coalescing key and that no worker has touched. Null when
-- there is none.
-- A job that is ready keeps its place in its lane, unless the priority changes: its runs are locked until the new input is
-- committed, claims skip locked runs, and read inputs after they have locked the runs. A job that is scheduled is scheduled
-- again, but no later than max_wait after it was submitted first.
create or replace function forebay.replace_pending(
    pipeline text, owner text, key text, input jsonb, priority int, run_at timestamptz, meta jsonb, now timestamptz,
    max_wait interval default null
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job;
    max_bytes int;
    due tid[];
    later tid[];
    is_paused boolean;
    has_place boolean := false;  -- in the order of a key
begin
    select j.* into job
    from forebay.pipeline p join forebay.owner o on o.name = replace_pending.owner
    join forebay.job j on j.pipeline_id = p.id and j.owner_id = o.id and j.key = replace_pending.key
    where p.name = replace_pending.pipeline and j.coalesces and j.finished_at is null
    order by j.id desc limit 1;
    if job.id is null or job.state <> 'QUEUED' then
        return null;
    end if;
    begin
        due := array(
            select r.ctid from forebay.ready r
            where r.step_id in (select s.id from forebay.step s where s.pipeline_id = job.pipeline_id)
              and r.lane_id in (select l.id from forebay.lane l
                                where l.owner_id = job.owner_id and l.job_id in (0, job.id))
              and r.seq >= job.first_seq and r.job_id = job.id and r.attempt = 0
            limit (select count(*) from forebay.next_steps(job, 0)) for update skip locked);
        later := array(
            select s.ctid from forebay.scheduled s
            where s.job_id = job.id and s.attempt = 0 and s.run_at < 'infinity'
            for update skip locked);
        is_paused := cardinality(due) + cardinality(later) = 0 and cardinality(array(
            select s.step_id from forebay.scheduled s
            where s.job_id = job.id and s.attempt = 0 and s.run_at = 'infinity' for update))
            = (select count(*) from forebay.next_steps(job, 0));
        if not is_paused and cardinality(due) + cardinality(later) <> (select count(*) from forebay.next_steps(job, 0)) then
            raise exception using errcode = 'FB009';  -- a worker has one of the tasks: unlock the others
        end if;
    exception when sqlstate 'FB009' then
        return null;
    end;
    select p.max_input_bytes into max_bytes from forebay.pipeline p where p.id = job.pipeline_id;
    perform forebay.check_submission(octet_length(input::text), max_bytes, 'input', run_at, now);
    perform forebay.check_nesting(input, 'input'), forebay.check_nesting(meta, 'meta');
    update forebay.item i set input = replace_pending.input, updated_at = now where i.job_id = job.id and i.n = 1;
    update forebay.job j set
        priority = replace_pending.priority, meta = replace_pending.meta, updated_at = now,
        lane_id = case when j.priority = replace_pending.priority then j.lane_id
                       else forebay.lane_id(j.owner_id, 0, replace_pending.priority::smallint) end
    where j.id = job.id;
    if exists (select from forebay.step s where s.pipeline_id = job.pipeline_id and s.ordered) then
        has_place := exists (select from forebay.ordered_task o where o.job_id = job.id);
        -- Its key may be another one now.
        perform from forebay.end_ordered(array(select o from forebay.ordered_task o where o.job_id = job.id), now);
    end if;
    -- a paused item stays so
    if not is_paused and (cardinality(later) > 0 or has_place or job.priority <> replace_pending.priority) then
        delete from forebay.ready r where r.ctid = any(due);
        delete from forebay.scheduled s where s.ctid = any(later);
        if cardinality(due) > 0 or has_place then
            run_at := null;  -- it has waited already
        elsif run_at is not null then
            run_at := least(run_at, job.created_at + max_wait);
        end if;
        update forebay.job j set first_seq = nextval('forebay.seq') where j.id = job.id;
        perform forebay.enqueue(job.id, 1, 1, run_at, now);
    end if;
    return job.id;
end $$;
