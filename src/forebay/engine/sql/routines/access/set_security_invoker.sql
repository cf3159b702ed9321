-- Makes views apply the row-level security of the role that reads them, if PostgreSQL supports it (15 and newer).
create or replace function forebay.set_security_invoker(variadic views text[]) returns void language plpgsql as $$
declare
    v text;
begin
    if current_setting('server_version_num')::int >= 150000 then
        foreach v in array views loop
            execute format('alter view %s set (security_invoker = true)', v);
        end loop;
    end if;
end $$;
