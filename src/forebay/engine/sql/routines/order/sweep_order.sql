-- Repairs the order of tasks, from the place (after_job, after_n) on: removes tasks that have ended in a way that did not free their key,
-- moves what a transaction that was rolled back has left, and ends the order of steps that have none any more. Returns how many
-- tasks were changed, and where to continue; null: at the beginning.
create or replace function forebay.sweep_order(
    after_job bigint, after_n int, now timestamptz default null, max_rows int default 1000,
    out changed bigint, out next_job bigint, out next_n int
) language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    looked forebay.ordered_task[];
    free forebay.ordered_task[];
    gone forebay.ordered_task[];
    stuck forebay.ordered_task[];
begin
    looked := array(
        select o from forebay.ordered_task o where (o.job_id, o.n) > (after_job, after_n) order by o.job_id, o.n limit max_rows);
    if cardinality(looked) = max_rows then
        select l.job_id, l.n into next_job, next_n from unnest(looked) l order by l.job_id desc, l.n desc limit 1;
    end if;
    free := array(
        select l from unnest(looked) l
        where not exists (select from forebay.step s where s.pipeline_id = l.pipeline_id and s.bit = l.bit and s.ordered));
    perform forebay.run_without_order(free, at);
    gone := array(
        select l from unnest(looked) l
        where not forebay.is_task_open(l.job_id, l.n, l.bit) and not exists (
            select from forebay.lease e join forebay.step s on s.id = e.step_id and s.bit = l.bit
            where e.job_id = l.job_id and e.ns @> l.n));
    perform from forebay.end_ordered(gone, at);
    -- Only of owners whose order no worker determines at this moment. Whether they are stuck is read again under the lock.
    stuck := array(
        select distinct on (l.pipeline_id, l.bit, l.owner_id, l.key) l from unnest(looked) l where forebay.is_key_stuck(l));
    stuck := array(
        select s from unnest(stuck) s
        where pg_try_advisory_xact_lock(forebay.order_lock(s.pipeline_id, s.bit, s.owner_id)));
    stuck := array(select s from unnest(stuck) s where forebay.is_key_stuck(s));
    update forebay.ordered_task c set is_current = false
    from unnest(stuck) s
    where c.pipeline_id = s.pipeline_id and c.bit = s.bit and c.owner_id = s.owner_id and c.key = s.key and c.is_current;
    perform from forebay.advance_keys(stuck, at);
    changed := cardinality(free) + cardinality(gone) + cardinality(stuck);
end $$;
