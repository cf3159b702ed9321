-- Replaces input, priority and meta of a job that has the same coalescing key and that no worker has touched. Null when
-- there is none.
-- The hot row is put back as a new one: a claim that is already looking at the old one must miss it.
create or replace function forebay.replace_pending(
    pipeline text, owner text, key text, input jsonb, priority int, run_at timestamptz, meta jsonb, now timestamptz
) returns bigint language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job;
    max_bytes int;
    taken int;
    is_paused boolean;
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
        with due as (
            delete from forebay.ready where ctid = any(array(
                select r.ctid from forebay.ready r
                where r.step_id in (select s.id from forebay.step s where s.pipeline_id = job.pipeline_id)
                  and r.lane_id in (select l.id from forebay.lane l
                                    where l.owner_id = job.owner_id and l.job_id in (0, job.id))
                  and r.seq >= job.first_seq and r.job_id = job.id and r.attempt = 0
                for update skip locked)) returning 1),
        later as (
            delete from forebay.scheduled where ctid = any(array(
                select s.ctid from forebay.scheduled s
                where s.job_id = job.id and s.attempt = 0 and s.run_at < 'infinity'
                for update skip locked)) returning 1)
        select (select count(*) from due) + (select count(*) from later) into taken;
        is_paused := taken = 0 and cardinality(array(
            select s.step_id from forebay.scheduled s
            where s.job_id = job.id and s.attempt = 0 and s.run_at = 'infinity' for update))
            = (select count(*) from forebay.next_steps(job, 0));
        if not is_paused and taken <> (select count(*) from forebay.next_steps(job, 0)) then
            raise exception using errcode = 'FB009';  -- a worker has one of the tasks: put the others back
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
        lane_id = forebay.lane_id(j.owner_id, 0, replace_pending.priority::smallint)
    where j.id = job.id;
    if not is_paused then  -- a paused item stays so
        update forebay.job j set first_seq = forebay.enqueue(job.id, 1, 1, run_at, now) where j.id = job.id;
    end if;
    return job.id;
end $$;
