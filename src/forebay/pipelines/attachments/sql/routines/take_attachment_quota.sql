-- Counts a request for a file against the quota of an app: at most `most` in any 24 hours, by whole hours, so that no day of the
-- sender has more, wherever it begins. Returns null if it may be sent, else when the next one may.
create or replace function forebay.take_attachment_quota(app text, most int, now timestamptz default null)
returns timestamptz language plpgsql as $$
declare
    this_hour timestamptz := date_trunc('hour', coalesce(now, clock_timestamp()));
    left_over int := most;
    each record;
begin
    perform pg_advisory_xact_lock(hashtextextended(app, 6403));
    for each in select q.hour, q.used from forebay.attachment_quota q
                where q.app = take_attachment_quota.app and q.hour >= this_hour - interval '24 hours' order by q.hour desc
    loop
        left_over := left_over - each.used;
        if left_over <= 0 then
            return each.hour + interval '25 hours';
        end if;
    end loop;
    insert into forebay.attachment_quota as q (app, hour, used) values (take_attachment_quota.app, this_hour, 1)
    on conflict on constraint attachment_quota_pkey do update set used = q.used + 1;
    return null;
end $$;
