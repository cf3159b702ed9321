-- The lease of a task, if a worker still holds it by this token; it cannot expire before the transaction ends.
create or replace function forebay.held_lease(token bigint, n int) returns forebay.lease language sql as $$
select l.* from forebay.lease l where l.token = held_lease.token and l.ns @> held_lease.n for key share
$$;
