-- Jobs of one pipeline or state: search_jobs() as the API of the previous release calls it.
create or replace function forebay.find_jobs(
    owner_id bigint, before bigint, pipeline text, state forebay.job_state, since timestamptz, until timestamptz,
    max_jobs int, max_rows int default 20000, out ids bigint[], out next_before bigint
) language sql stable as $$
select s.ids, s.next_before from forebay.search_jobs(
    owner_id, before, case when pipeline is not null then array[pipeline] end, case when state is not null then array[state] end,
    since, until, null, null, null, max_jobs, max_rows) s
$$;
