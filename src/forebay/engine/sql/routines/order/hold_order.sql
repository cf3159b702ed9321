-- Waits until no worker is putting tasks of the owners of these jobs in order, and keeps workers from it until the transaction ends: a
-- task that a worker has taken out of the queue would not be found.
create or replace function forebay.hold_order(jobs bigint[]) returns void language plpgsql set enable_seqscan = off as $$
begin
    perform pg_advisory_xact_lock(o.number)
    from (select distinct forebay.order_lock(s.pipeline_id, s.bit, j.owner_id) as number
          from forebay.job j join forebay.step s on s.pipeline_id = j.pipeline_id and s.ordered
          where j.id = any(jobs) order by 1) o;
end $$;
