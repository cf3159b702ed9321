-- Ends up to max_items open items of a cancelled job that no worker holds, and closes the job if no item is open any more.
-- Returns the number of items; 0 means that workers hold the rest. Each call continues where the last one stopped, and
-- starts over at the end, because a task that a worker released may be anywhere.
create or replace function forebay.end_open_items(job forebay.job, max_items int, at timestamptz) returns int
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    held int4multirange := (select range_agg(r) from forebay.lease l cross join lateral unnest(l.ns) r where l.job_id = job.id);
    ended int;
    ends_map boolean;
begin
    with open as materialized (
        select i.n from forebay.item i
        where i.job_id = job.id and i.n > job.reaped and i.status = 'PENDING' and (held is null or not held @> i.n)
        order by i.job_id, i.n limit max_items for no key update skip locked
    ),
    closed as (
        update forebay.item i set
            status = greatest(i.verdict, 'SKIPPED'),
            verdict = greatest(i.verdict, 'SKIPPED'),
            dead = i.dead | (case when i.n = 0 then job.job_steps else job.steps end & ~i.done),
            error = case when i.verdict > 'SKIPPED' then i.error
                         else '{"class": "cancelled", "reason": "the job was cancelled"}' end,
            updated_at = at
        -- No join: with statistics from before the submit of a large job, the plan would compare each item with each other.
        where i.job_id = job.id and i.n = any(array(select o.n from open o))
        returning i.n, i.status
    ),
    tally as (
        select count(*) as ended, max(n) as last_n,
               count(*) filter (where n > 0) as closed,
               count(*) filter (where n > 0 and status = 'SKIPPED') as skipped,
               count(*) filter (where n > 0 and status = 'NOT_FOUND') as not_found,
               count(*) filter (where n > 0 and status = 'ERROR') as error
        from closed
    ),
    counted as (
        update forebay.job j set
            state = 'CANCELLED',
            sealed = true,
            skipped = j.skipped + t.skipped,
            not_found = j.not_found + t.not_found,
            error = j.error + t.error,
            reaped = case when t.ended < max_items then -1 else t.last_n end,
            finished_at = case when j.done + j.skipped + j.not_found + j.error + t.closed >= j.total
                                and (held is null or not held @> 0) then at end,
            updated_at = at
        from tally t where j.id = job.id and j.finished_at is null
        returning t.ended, t.closed, t.skipped, t.not_found, t.error, j.finished_at is not null and j.parent_id is not null as ends_map
    ),
    tallied as (
        insert into forebay.tally (owner_id, pipeline_id, skipped, not_found, error)
        select job.owner_id, job.pipeline_id, c.skipped, c.not_found, c.error from counted c where c.closed > 0
    )
    select c.ended, c.ends_map into ended, ends_map from counted c;
    if ends_map then
        perform forebay.end_maps(array[job.id], at);
    end if;
    return ended;
end $$;
