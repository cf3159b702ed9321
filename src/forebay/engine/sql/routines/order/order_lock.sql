-- The number of the advisory lock of one step and owner: who has it determines, or knows, where new tasks are.
create or replace function forebay.order_lock(pipeline_id int, step_bit bigint, owner_id bigint) returns bigint
language sql stable as $$
select hashtextextended('forebay.order ' || pipeline_id || ' ' || step_bit || ' ' || owner_id, 4662)
$$;
