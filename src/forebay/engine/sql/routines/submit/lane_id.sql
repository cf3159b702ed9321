-- The lane that an owner's small jobs share (job = 0), or that one job has for itself.
create or replace function forebay.lane_id(owner_id bigint, job_id bigint, priority smallint) returns bigint
language plpgsql as $$
declare found_id bigint;
begin
    select l.id into found_id from forebay.lane l
    where l.owner_id = lane_id.owner_id and l.job_id = lane_id.job_id and l.priority = lane_id.priority
      and l.limit_name = '';
    if found_id is null then
        insert into forebay.lane (owner_id, job_id, priority) values (owner_id, job_id, priority) on conflict do nothing;
        select l.id into strict found_id from forebay.lane l
        where l.owner_id = lane_id.owner_id and l.job_id = lane_id.job_id and l.priority = lane_id.priority
          and l.limit_name = '';
    end if;
    return found_id;
end $$;
