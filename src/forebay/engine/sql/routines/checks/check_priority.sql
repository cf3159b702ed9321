-- Rejects a priority that is out of range.
create or replace function forebay.check_priority(priority int) returns void language plpgsql as $$
begin
    if priority is null or priority not between -100 and 100 then
        perform forebay.refuse('FB002', 'priority', 'must be between -100 and 100');
    end if;
end $$;
