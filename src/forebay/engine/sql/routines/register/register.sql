-- The same as register_pipeline, for workers of the release before versions. Returns the pipeline's id.
create or replace function forebay.register(definition jsonb) returns int language plpgsql as $$
begin
    perform forebay.register_pipeline(definition);
    return (select p.id from forebay.pipeline p where p.name = definition ->> 'name');
end $$;
