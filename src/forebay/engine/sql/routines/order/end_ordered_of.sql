-- Removes the tasks of jobs, or of one item of a job, that will not run any more from the order of their keys. Those that workers hold
-- stay until their workers report.
create or replace function forebay.end_ordered_of(jobs bigint[], at timestamptz, item_n int default null) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare gone forebay.ordered_task[];
begin
    gone := array(
        select o from forebay.ordered_task o
        left join (
            select l.job_id, s.bit, range_agg(r) as ns
            from forebay.lease l cross join lateral unnest(l.ns) r join forebay.step s on s.id = l.step_id
            where l.job_id = any(jobs) group by l.job_id, s.bit) h on h.job_id = o.job_id and h.bit = o.bit
        where o.job_id = any(jobs) and (item_n is null or o.n = item_n)
          and (h.ns @> o.n) is not true and not forebay.is_task_open(o.job_id, o.n, o.bit));
    if cardinality(gone) > 0 then
        perform from forebay.end_ordered(gone, at);
    end if;
end $$;
