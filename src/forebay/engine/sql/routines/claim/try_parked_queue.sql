-- Whether this claim may try one task of a parked queue: the first caller may, then none for half a minute.
create or replace function forebay.try_parked_queue(queue text, at timestamptz) returns boolean language plpgsql as $$
begin
    update forebay.queue q set probe_at = at + interval '30 seconds' where q.name = queue and q.probe_at <= at;
    return found;
end $$;
