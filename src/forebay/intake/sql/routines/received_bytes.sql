-- How many bytes of a file have come, one part after the other. Parts that were begun and never ended do not count.
create or replace function forebay.received_bytes(target text, reference bigint) returns bigint language plpgsql stable as $$
declare
    upto bigint := 0;
    part record;
begin
    for part in select p.start, p.size from forebay.intake_part p
                where p.target = received_bytes.target and p.reference = received_bytes.reference and p.size is not null
                order by p.start loop
        exit when part.start <> upto;
        upto := part.start + part.size;
    end loop;
    return upto;
end $$;
