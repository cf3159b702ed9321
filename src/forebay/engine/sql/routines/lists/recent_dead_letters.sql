-- Up to max_rows dead letters: of a job, else the newest ones of an owner, else of all.
create or replace function forebay.recent_dead_letters(owner_id bigint, job_id bigint, max_rows int)
returns setof forebay.dead_letter language plpgsql stable set enable_seqscan = off set jit = off as $$
begin
    -- The statement is built for each call, because the suitable index depends on the filters.
    return query execute
        'select d.* from forebay.dead_letter d'
        || case when job_id is not null then ' where d.job_id = $2 and ($1 is null or d.owner_id = $1) order by d.n'
                when owner_id is not null then ' where d.owner_id = $1 order by d.at desc, d.job_id desc, d.n desc'
                else ' order by d.at desc, d.job_id desc, d.n desc' end
        || ' limit $3'
        using owner_id, job_id, max_rows;
end $$;
