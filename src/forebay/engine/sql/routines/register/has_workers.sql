-- Whether workers of this version are alive, or were lost so lately that they may come back.
create or replace function forebay.has_workers(version int, at timestamptz) returns boolean language sql stable as $$
select exists (
    select from forebay.worker w
    where w.stopped_at is null and w.seen_at > at - interval '10 minutes' and version = any(w.versions))
$$;
