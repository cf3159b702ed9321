-- Counts children that were stored for a task, in the same transaction. False if the worker no longer holds the task, or the
-- children were cancelled: then the transaction must be rolled back.
create or replace function forebay.add_children(token bigint, n int, child_id bigint, added int) returns boolean
language plpgsql as $$
declare held forebay.lease := forebay.held_lease(token, n);
begin
    update forebay.job j set total = j.total + added
    where j.id = child_id and not j.sealed and held.token is not null;
    return found;
end $$;
