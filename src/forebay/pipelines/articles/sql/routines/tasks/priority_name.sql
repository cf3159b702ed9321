-- The name of the priority of a job: see priority_rank.
create or replace function forebay.priority_name(rank smallint) returns text language sql immutable parallel safe as $$
select case when rank > 0 then 'high' when rank < 0 then 'low' else 'normal' end
$$;
