-- The ended steps of a job's items, at most max_items: of all items of a job of up to 1000, else of those that failed, which an
-- index finds. Of a large job, an item that is DONE has done all of its steps, and the runs say which steps the others have done.
create or replace function forebay.masks_of_items(job forebay.job, max_items int)
returns table (status forebay.item_status, done bigint, dead bigint)
language plpgsql stable rows 1000 set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
begin
    if job.total > 1000 then
        return query select i.status, i.done, i.dead & ~i.done from forebay.item i
        where i.job_id = job.id and i.n > 0 and i.verdict <> 'DONE' and i.status in ('SKIPPED', 'NOT_FOUND', 'ERROR') limit max_items;
    else
        return query select i.status, i.done, i.dead & ~i.done from forebay.item i where i.job_id = job.id and i.n > 0;
    end if;
end $$;
