-- The item; raises an error if it has ended.
create or replace function forebay.open_item(job_id bigint, n int) returns forebay.item language plpgsql as $$
declare item forebay.item;
begin
    select i.* into item from forebay.item i where i.job_id = open_item.job_id and i.n = open_item.n;
    if item.job_id is null then
        perform forebay.refuse('FB004', 'n', format('job %s has no item %s', job_id, n));
    elsif item.status <> 'PENDING' then
        perform forebay.refuse('FB005', 'n', format('item %s of job %s has ended: it is %s', n, job_id, item.status));
    end if;
    return item;
end $$;
