-- Lists the steps of bookmarks in order: those that are open from the last job, the others as they have ended. A step that the
-- last job was not asked for is shown as an earlier job left it. Steps of which nothing is known are left out.
create or replace function forebay.bookmark_steps(ids bigint[]) returns table (
    bookmark_id bigint, name text, after text[], optional boolean, state text, started_at timestamptz, ended_at timestamptz,
    next_at timestamptz, attempt int, reason text
) language sql stable as $$
select b.id, v.name,
       array(select p.name from forebay.version_step p where p.version_id = v.version_id and p.bit & v.needs <> 0 order by p.place),
       v.optional, s.state, l.claimed_at, case when s.is_open then null else k.ended_at end, t.run_at,
       coalesce(l.attempt, t.attempt)::int,
       case when s.is_open then null when k.job_id is distinct from b.job_id and i.error ->> 'step' = v.name
            then i.error ->> 'reason' else k.reason end
from unnest(ids) u(id)
join forebay.bookmark b on b.id = u.id
join forebay.pipeline p on p.name = 'bookmarks'
left join forebay.job j on j.id = b.job_id
left join forebay.item i on i.job_id = b.job_id and i.n = 1
join forebay.version_step v on v.version_id = coalesce(j.version_id, p.version_id, -p.id) and not v.after_all
left join forebay.bookmark_step k on k.bookmark_id = b.id and k.step = v.name
left join lateral (
    select l.claimed_at, l.attempt from forebay.lease l where l.job_id = b.job_id and l.step_id = v.step_id limit 1) l on true
left join lateral (
    select t.run_at, t.attempt from forebay.scheduled t where t.job_id = b.job_id and t.step_id = v.step_id limit 1) t on true
cross join lateral (select i.status = 'PENDING' and (i.done | i.dead) & v.bit = 0 as is_open) o
cross join lateral (
    select coalesce(o.is_open, false) as is_open, case
        when o.is_open then case
            when l.claimed_at is not null then 'RUNNING'
            when v.needs & ~(i.done | i.dead) <> 0 then 'BLOCKED'
            when j.state = 'PAUSED' then 'HELD'
            when t.run_at is not null then 'SCHEDULED'
            else 'WAITING' end
        when i.dead & v.bit <> 0 and k.job_id is distinct from b.job_id  -- it failed without a record, or never ran
            then case when v.needs & i.dead <> 0 then 'BLOCKED' else 'FAILED' end
        when k.state is not null then k.state
        when coalesce(i.done, 0) & v.bit = 0 then null
        when i.status = 'SKIPPED' or i.input ? 'only' and not i.input -> 'only' ? v.name then 'SKIPPED'
        else 'DONE' end as state) s
where s.state is not null
order by b.id, v.place
$$;
