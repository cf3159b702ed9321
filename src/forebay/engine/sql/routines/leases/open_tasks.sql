-- The tasks of these leases whose items are still open, and whether their job is cancelled. `batch` groups them for settle():
-- one worker and one step (an item may be in two leases), and a limited number.
create or replace function forebay.open_tasks(tokens bigint[])
returns table (token bigint, n int, step_id int, lane_id bigint, job_id bigint, owner_id bigint, worker_id bigint,
               attempt smallint, cancelled boolean, claimed_at timestamptz, batch bigint)
language sql stable set enable_seqscan = off set jit = off as $$
select l.token, i.n, l.step_id, l.lane_id, l.job_id, l.owner_id, l.worker_id, l.attempt, l.given_up, l.claimed_at,
       row_number() over (partition by l.worker_id, l.step_id order by l.token, i.n) / 500
from (select l.*, l.cancelled or j.state = 'CANCELLED' as given_up
      from forebay.lease l join forebay.job j on j.id = l.job_id where l.token = any(tokens) offset 0) l
cross join lateral unnest(l.ns) r cross join lateral (
    select i.n from forebay.item i where i.job_id = l.job_id and i.n >= lower(r) and i.n < upper(r) and i.status = 'PENDING'
    offset 0) i
$$;
