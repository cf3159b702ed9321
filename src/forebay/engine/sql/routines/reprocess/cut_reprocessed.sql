-- Removes items that are about to run again from runs and leases: an item that ended early may have left tasks behind, which
-- must not run as well. The job item is removed too; it waits for the others again.
-- The leases are locked first: a settle that is about to end the last item makes a run of the job item, which must be found.
-- They are locked once more after the runs, for those that were claimed in the meantime.
create or replace function forebay.cut_reprocessed(job forebay.job, statuses forebay.item_status[], chosen int4multirange)
returns void language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    held bigint[];
    runs tid[];
begin
    perform from forebay.lease l where l.job_id = job.id order by l.token for update;
    perform from forebay.cut_runs(job, 0);
    -- Runs are locked before they are compared with items: a run that a claim cuts meanwhile is read again as it is then.
    runs := array(
        select r.ctid from forebay.ready r
        where r.step_id = any(forebay.steps_of(job)) and r.lane_id = any(forebay.lanes_of(job)) and r.job_id = job.id
          and r.seq >= coalesce(job.first_seq, 0) for update);
    with hit as (
        delete from forebay.ready r
        where r.ctid = any(runs)
          and exists (select from forebay.item i where i.job_id = job.id and i.n between r.first_n and r.last_n
                      and forebay.is_chosen(i, statuses, chosen))
        returning r.*
    ),
    left_over as (
        select h.step_id, h.lane_id, h.owner_id, h.attempt, o.ns from hit h cross join lateral (
            select range_agg(int4range(i.n, i.n, '[]')) as ns from forebay.item i
            where i.job_id = job.id and i.n between h.first_n and h.last_n and not forebay.is_chosen(i, statuses, chosen)) o
    )
    insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
    select o.step_id, o.lane_id, job.id, o.owner_id, lower(r), upper(r) - 1, o.attempt
    from left_over o cross join lateral unnest(o.ns) r;
    delete from forebay.scheduled s  -- whole rows: a run that is scheduled after the start is a retry of one item
    where s.job_id = job.id and s.first_n = s.last_n
      and exists (select from forebay.item i where i.job_id = job.id and i.n = s.first_n and forebay.is_chosen(i, statuses, chosen));
    held := array(select l.token from forebay.lease l where l.job_id = job.id order by l.token for update);
    update forebay.lease l set ns = l.ns - g.gone
    from unnest(held) h(token) join forebay.lease e on e.token = h.token cross join lateral (
        select range_agg(int4range(i.n, i.n, '[]')) as gone from forebay.item i
        where i.job_id = job.id and i.n >= lower(e.ns) and i.n < upper(e.ns) and i.n <@ e.ns
          and (i.n = 0 or forebay.is_chosen(i, statuses, chosen))) g
    where l.token = e.token and g.gone is not null;
    delete from forebay.lease l where l.token = any(held) and isempty(l.ns);
    perform from forebay.cut_runs(job, 0);  -- one that a task that was claimed in the meantime has made
end $$;
