-- Makes tasks ready whose step has no order any more.
create or replace function forebay.run_without_order(tasks forebay.ordered_task[], at timestamptz) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare woken int;
begin
    with gone as (
        delete from forebay.ordered_task o using unnest(tasks) t where o.job_id = t.job_id and o.n = t.n and o.bit = t.bit returning o.*
    ),
    moved as (
        delete from forebay.scheduled s using gone g, forebay.step p
        where s.job_id = g.job_id and s.first_n = g.n and s.last_n = g.n and s.run_at = forebay.waits_in_order()
          and p.id = s.step_id and p.bit = g.bit
        returning s.*
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select m.step_id, forebay.lane_of(m.job_id), m.job_id, m.owner_id, m.first_n, m.last_n, m.attempt from moved m order by m.seq
        returning step_id, lane_id, seq
    ),
    woken as (
        select q.step_id, q.lane_id, min(q.seq) as seq from queued q group by q.step_id, q.lane_id
    )
    select count(forebay.wake(w.step_id, w.lane_id, w.seq, at)) into woken from woken w;
end $$;
