-- Records that tasks were throttled by a remote service, and returns for how many seconds each has been throttled without a
-- break, in the order given. Of the time between two attempts, at most longest_s[i] seconds count: a paused job or a parked
-- queue does not wait for the remote service. A null in longest_s is a break: the task snoozes.
-- To repeat a call adds nothing, because no time has passed.
create or replace function forebay.note_throttled(
    job_ids bigint[], ns int[], step_ids int[], owner_ids bigint[], attempts smallint[], longest_s float8[], now timestamptz default null
) returns table (place int, waited_s float8)
language plpgsql set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare at timestamptz := coalesce(now, clock_timestamp());
begin
if array_position(longest_s, null) is not null then
    delete from forebay.throttled_task t
    using unnest(job_ids, ns, step_ids, note_throttled.longest_s) r(job_id, n, step_id, longest_s)
    where t.job_id = r.job_id and t.n = r.n and t.step_id = r.step_id and r.longest_s is null;
end if;
return query
with report as materialized (
    select * from unnest(job_ids, ns, step_ids, owner_ids, attempts, longest_s) with ordinality
        as r(job_id, n, step_id, owner_id, attempt, longest_s, place)
    where r.longest_s is not null
),
noted as (
    insert into forebay.throttled_task as t (job_id, n, step_id, owner_id, attempt, last_at, longest_s)
    select r.job_id, r.n, r.step_id, r.owner_id, r.attempt, at, r.longest_s from report r order by r.job_id, r.n, r.step_id
    on conflict (job_id, n, step_id) do update set
        waited_s = case when t.attempt <> excluded.attempt then 0
                        else t.waited_s + least(extract(epoch from excluded.last_at - t.last_at)::float8, t.longest_s) end,
        attempt = excluded.attempt, last_at = excluded.last_at, longest_s = excluded.longest_s
    returning t.job_id, t.n, t.step_id, t.waited_s
)
select r.place::int, n.waited_s from report r join noted n on n.job_id = r.job_id and n.n = r.n and n.step_id = r.step_id;
end $$;
