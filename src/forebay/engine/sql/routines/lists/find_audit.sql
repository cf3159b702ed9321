-- Audit records before id `before` (null: from the newest) that match the filters (null: any). Reads at most max_rows rows:
-- looked_to is the time of the last of them.
create or replace function forebay.find_audit(
    owner_id bigint, job_id bigint, actor text, action text, since timestamptz, until timestamptz, before bigint,
    max_records int, max_rows int default 20000, out ids bigint[], out next_before bigint, out looked_to timestamptz, out looked_at int
) language plpgsql stable set enable_seqscan = off set jit = off as $$
declare
    record record;
begin
    ids := '{}';
    looked_at := 0;
    -- The statement is built for each call, because the suitable index depends on the filters.
    for record in execute
        'select a.id, a.at, ($2 is null or a.owner_id = $2) and ($3 is null or a.actor = $3) and ($4 is null or a.action = $4)
                and ($5 is null or a.at >= $5) and ($6 is null or a.at < $6) as fits
         from forebay.audit a where a.id < $7'
        || case when job_id is not null then ' and a.job_id = $1' when owner_id is not null then ' and a.owner_id = $2' else '' end
        || ' order by a.id desc'
        using job_id, owner_id, actor, action, since, until, coalesce(before, 9223372036854775807)
    loop
        if cardinality(ids) = max_records and record.fits then
            next_before := ids[max_records];
            return;
        elsif looked_at = max_rows then
            return;
        end if;
        exit when record.at < since - interval '1 day';  -- records of long transactions have later ids than others of their time
        looked_at := looked_at + 1;
        looked_to := record.at;
        if record.fits then
            ids := ids || record.id;
        end if;
        next_before := case when looked_at = max_rows then record.id end;
    end loop;
    next_before := null;
end $$;
