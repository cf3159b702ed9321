-- Sets the paths of the columns that lists show for the rows of a sheet's job.
create or replace function forebay.set_summary_paths() returns trigger language plpgsql as $$
begin
    update forebay.job j set summary_paths = (
        select jsonb_object_agg(f.name, array['row', new.mapping -> 'fields' ->> f.name]::text)
        from unnest('{title,brand,sku}'::text[]) f(name) where new.mapping -> 'fields' ->> f.name is not null)
    where j.id = new.job_id;
    return null;
end $$;

create or replace trigger set_summary_paths after insert or update of mapping on forebay.sheet
    for each row when (new.mapping is not null) execute function forebay.set_summary_paths();
