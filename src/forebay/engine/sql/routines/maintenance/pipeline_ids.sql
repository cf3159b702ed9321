-- The ids of the pipelines with these names.
create or replace function forebay.pipeline_ids(names text[]) returns int[] language sql stable as $$
select array(select p.id from forebay.pipeline p where p.name = any(names))
$$;
