-- The children of a job, or of one of its items: how many there are, how many are done or have failed, and the first of their
-- jobs. Null if there are none. A task that was reprocessed counts with its last children. Reads at most max_jobs jobs of
-- children: is_cut says that there are more.
create or replace function forebay.children_of(job_id bigint, item_n int default null, max_jobs int default 1000) returns jsonb
language sql stable as $$
with found as (
    select c.id, c.parent_n, c.parent_bit, c.total, c.done, c.not_found + c.error as failed from forebay.job c
    where c.parent_id = children_of.job_id and c.sealed and (item_n is null or c.parent_n = item_n)
    order by c.parent_n, c.id limit max_jobs + 1
),
last_ones as (
    select distinct on (f.parent_n, f.parent_bit) f.id, f.total, f.done, f.failed
    from (select * from found order by parent_n, id limit max_jobs) f order by f.parent_n, f.parent_bit, f.id desc
)
select jsonb_build_object(
    'total', sum(l.total), 'done', sum(l.done), 'failed', sum(l.failed),
    'job_ids', (array_agg(l.id order by l.id))[:100], 'is_cut', (select count(*) from found) > max_jobs)
from last_ones l having count(*) > 0
$$;
