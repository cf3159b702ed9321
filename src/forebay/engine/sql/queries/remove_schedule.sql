-- Removes a schedule; its jobs stay.
delete from forebay.schedule s where s.name = cast($1 as text) returning s.name
