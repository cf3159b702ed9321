-- Finds the ids of bookmarks that match a filter (see bookmark_conditions), newest or oldest first, after the one with this id.
-- next_after is the start of the next page; null if there are no more. A filter by status reads at most max_read bookmarks, so that
-- a page may be short: the status is that of the last job.
-- With row-level security, PostgreSQL cannot use the indexes of words and tags, whose operators are not leakproof: it runs
-- without, and reads only the rows of the owner in forebay.owner_id.
create or replace function forebay.match_bookmarks(
    filter jsonb, oldest boolean, after bigint, max_rows int, max_read int default 5000, out ids bigint[], out next_after bigint
) language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
    found_by constant text := forebay.bookmark_conditions(filter)
        || case when oldest then ' and b.id > $2 order by b.id limit $3' else ' and b.id < $2 order by b.id desc limit $3' end;
    start constant bigint := coalesce(after, case when oldest then 0 else 9223372036854775807 end);
    seen int;
    last_seen bigint;
begin
    if not filter ? 'statuses' then
        execute 'select array(select b.id from forebay.bookmark b where ' || found_by || ')'
        into ids using forebay.acting_owner(), start, max_rows + 1;
    else
        execute format(
            'select coalesce(array_agg(s.id order by s.id %1$s) filter (where forebay.bookmark_status(
                        i.status, exists (select from forebay.lease l where l.job_id = s.job_id), s.crawled_at) = any($4)), %2$L), count(*), case %1$L when %3$L then max(s.id) else min(s.id) end
             from (select b.id, b.job_id, b.crawled_at from forebay.bookmark b where %4$s) s
             left join forebay.item i on i.job_id = s.job_id and i.n = 1',
            case when oldest then 'asc' else 'desc' end, '{}', 'asc', found_by)
        into ids, seen, last_seen
        using forebay.acting_owner(), start, max_read, array(select jsonb_array_elements_text(filter -> 'statuses'));
    end if;
    if cardinality(ids) > max_rows then
        ids := ids[:max_rows];
        next_after := ids[max_rows];
    elsif seen = max_read then
        next_after := last_seen;
    end if;
end $$;
select forebay.permit_call('match_bookmarks(jsonb, boolean, bigint, int, int)', 'forebay_api', 'forebay_admin');
