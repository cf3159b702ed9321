-- The names of a pipeline's steps in a mask, in the order of declaration.
create or replace function forebay.step_names(pipeline_id int, mask bigint) returns text[] language sql stable as $$
select array(select s.name from forebay.step s
             where s.pipeline_id = step_names.pipeline_id and s.bit & mask <> 0 order by s.bit)
$$;
