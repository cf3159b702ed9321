-- The same as submit_jobs without keys, for API processes of the previous release.
create or replace function forebay.submit_each(
    pipeline text, inputs jsonb[], owner text default 'default', priority int default 0, now timestamptz default null
) returns setof bigint language sql as $$
select unnest(s.job_ids) from forebay.submit_jobs(pipeline, inputs, owner, priority => submit_each.priority, now => submit_each.now) s
$$;
