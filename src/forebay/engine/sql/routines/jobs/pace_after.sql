-- The pace of a job after `closed` more of its items have ended. A window lasts half a minute; the estimate counts from the
-- start of the previous window, so that it covers the last 30 to 60 seconds. `claimed_at` is when the first of the items was
-- claimed. Stable, as `timestamptz + interval` is: a function that is declared stricter than its body is not inlined.
create or replace function forebay.pace_after(j forebay.job, closed bigint, claimed_at timestamptz, at timestamptz)
returns forebay.pace language sql stable as $$
select case
    when closed = 0 or j.total = 1 then j.pace  -- the pace of a single item is not useful
    when j.pace is null then row(least(claimed_at, at), j.done + j.skipped + j.not_found + j.error, null, null)::forebay.pace
    when at < (j.pace).since + interval '30 seconds' then j.pace
    else row(at, j.done + j.skipped + j.not_found + j.error + closed, (j.pace).since, (j.pace).ended)::forebay.pace
end
$$;
