-- The first open item of a job; null if all have ended. The job item, which waits for the others, does not count.
create or replace function forebay.first_open_item(job_id bigint) returns int language sql stable as $$
select i.n from forebay.item i where i.job_id = first_open_item.job_id and i.n > 0 and i.status = 'PENDING'
order by i.job_id, i.n limit 1
$$;
