-- The priority of a job by its name. As text, `high` would come before `low`, and `low` before `normal`.
create or replace function forebay.priority_rank(name text) returns int language sql immutable parallel safe as $$
select case name when 'high' then 10 when 'normal' then 0 when 'low' then -10 end
$$;
