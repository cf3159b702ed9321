-- Registers a pipeline that is not registered yet: for submits before the first worker starts. An existing pipeline is left
-- unchanged; workers update it.
create or replace function forebay.register_unknown(definition jsonb) returns void language plpgsql as $$
begin
    if exists (select from forebay.pipeline p where p.name = definition ->> 'name') then
        return;
    end if;
    -- One transaction at a time: two that register the same pipelines in another order would wait for each other.
    perform pg_advisory_xact_lock(hashtextextended('forebay.register_unknown', 4662));
    if not exists (select from forebay.pipeline p where p.name = definition ->> 'name') then
        perform forebay.register(definition);
    end if;
exception when insufficient_privilege then
    perform forebay.refuse('FB001', 'pipeline', format(
        'there is no pipeline %L here, and this account may not register it: start its worker, or run '
        '`forebay migrate --pipelines MODULE`', definition ->> 'name'));
end $$;
