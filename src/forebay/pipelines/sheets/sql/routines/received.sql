-- How many bytes of a file have come, one piece after the other. Pieces that were begun and never ended do not count.
create or replace function forebay.received(sheet_id bigint) returns bigint language plpgsql stable as $$
declare
    upto bigint := 0;
    piece record;
begin
    for piece in select p.start, p.size from forebay.sheet_piece p
                 where p.sheet_id = received.sheet_id and p.size is not null order by p.start loop
        exit when piece.start <> upto;
        upto := piece.start + piece.size;
    end loop;
    return upto;
end $$;
