-- Whether workers of this version are alive, or were lost so lately that they may come back. close_workers() marks a lost one as
-- stopped long after it was seen; one that stops by itself has just been seen.
create or replace function forebay.has_workers(version int, at timestamptz) returns boolean language sql stable as $$
select exists (
    select from forebay.worker w
    where w.seen_at > at - interval '10 minutes' and version = any(w.versions)
      and (w.stopped_at is null or w.stopped_at > w.seen_at + interval '4 minutes'))
$$;
