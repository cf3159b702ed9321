-- Gives a waiting task the oldest signal that was kept for it; returns whether there was one.
create or replace function forebay.give_kept_signal(waits forebay.waiting, present timestamptz) returns boolean language plpgsql as $$
declare kept forebay.kept_signal;
begin
    select k.* into kept from forebay.kept_signal k
    where k.owner_id = waits.owner_id and k.name = waits.name and k.key = waits.key and k.expires_at > present
    order by k.id limit 1 for update skip locked;
    if kept.id is null or forebay.wake_waiting(array[waits], kept.payload, present) = 0 then
        return false;
    end if;
    delete from forebay.kept_signal k where k.id = kept.id;
    return true;
end $$;
