-- Registers a pipeline of which nothing is known yet: for submits that come before the first worker. What is there already
-- stays as it is; workers bring it up to date.
create or replace function forebay.register_unknown(definition jsonb) returns void language plpgsql as $$
begin
    if not exists (select from forebay.pipeline p where p.name = definition ->> 'name') then
        perform forebay.register(definition);
    end if;
exception when insufficient_privilege then
    perform forebay.refuse('FB001', 'pipeline', format(
        'there is no pipeline %L here, and this account may not register it: start its worker, or run '
        '`forebay migrate --pipelines MODULE`', definition ->> 'name'));
end $$;
