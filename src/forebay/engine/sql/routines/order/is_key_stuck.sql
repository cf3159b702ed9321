-- Whether tasks of a key wait although none of them is current, or the current one waits, too.
create or replace function forebay.is_key_stuck(k forebay.ordered_task) returns boolean language sql stable as $$
select exists (select from forebay.ordered_task o
               where o.pipeline_id = k.pipeline_id and o.bit = k.bit and o.owner_id = k.owner_id and o.key = k.key)
   and not exists (
       select from forebay.ordered_task c
       where c.pipeline_id = k.pipeline_id and c.bit = k.bit and c.owner_id = k.owner_id and c.key = k.key and c.is_current
         and not exists (
             select from forebay.scheduled s join forebay.step p on p.id = s.step_id and p.bit = c.bit
             where s.job_id = c.job_id and s.first_n = c.n and s.last_n = c.n and s.run_at = forebay.waits_in_order()))
$$;
