-- Rejects JSON that is nested more than 100 levels deep: few programs can read it, and the API cannot show it.
create or replace function forebay.check_nesting(value jsonb, field text) returns void language plpgsql as $$
begin
    if value @? '$.**{100}'
        and exists (select from jsonb_path_query(value, '$.**{100}') v where jsonb_typeof(v) in ('array', 'object'))
    then
        perform forebay.refuse('FB002', field, 'is nested more than 100 levels deep');
    end if;
end $$;
