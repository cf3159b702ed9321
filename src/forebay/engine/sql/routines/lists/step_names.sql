-- The names of a pipeline's steps in a mask, in the order of declaration.
create or replace function forebay.step_names(pipeline_id int, mask bigint) returns text[] language sql stable as $$
select array(select (array_agg(s.name order by s.active desc, s.id desc))[1] from forebay.step s
             where s.pipeline_id = step_names.pipeline_id and s.bit & mask <> 0 group by s.bit order by s.bit)
$$;
