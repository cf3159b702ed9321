-- Where the tasks of an open item are: one row for each step that the item has not ended. place: `blocked` by steps before it,
-- `leased`, `scheduled`, `held`, `ready`, or null if it was not found. at: when it was claimed, or when it is due; ahead: tasks
-- that come before it in its lease or lane. max_runs bounds what is read: see find_ready.
create or replace function forebay.tasks_of_item(job_id bigint, item_n int, max_runs int default 10000)
returns table (
    step_bit bigint, place text, at timestamptz, until timestamptz, attempt smallint, worker_id bigint, is_cancelled boolean,
    lane_id bigint, ahead bigint, is_cut boolean
) language plpgsql stable set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    job forebay.job;
    item forebay.item;
    open_step forebay.version_step;
begin
    select j.* into job from forebay.job j where j.id = tasks_of_item.job_id;
    select i.* into item from forebay.item i where i.job_id = job.id and i.n = item_n and i.status = 'PENDING';
    for open_step in
        select v.* from forebay.version_step v
        where v.version_id = coalesce(job.version_id, -job.pipeline_id) and v.after_all = (item.n = 0)
          and v.bit & case when item.n = 0 then job.job_steps else job.steps end <> 0 and v.bit & (item.done | item.dead) = 0
        order by v.place
    loop
        step_bit := open_step.bit;
        place := case when open_step.needs & ~item.done <> 0 then 'blocked' end;
        at := null; until := null; attempt := null; worker_id := null; is_cancelled := null; lane_id := null; ahead := null;
        is_cut := false;
        if place is null then
            select 'leased', l.claimed_at, l.expires_at, l.attempt, l.worker_id, l.cancelled, l.lane_id,
                   (select coalesce(sum(least(upper(r), item_n) - lower(r)), 0) from unnest(l.ns) r where lower(r) < item_n)
            into place, at, until, attempt, worker_id, is_cancelled, lane_id, ahead
            from forebay.lease l join forebay.step s on s.id = l.step_id
            where l.job_id = job.id and l.ns @> item_n and s.bit = open_step.bit order by l.token desc limit 1;
        end if;
        if place is null then
            select case when t.run_at = 'infinity' then 'held' else 'scheduled' end, nullif(t.run_at, 'infinity'), t.attempt, t.lane_id
            into place, at, attempt, lane_id
            from (select t.* from forebay.scheduled t
                  where t.job_id = job.id and t.first_n <= item_n order by t.first_n desc limit max_runs) t
            join forebay.step s on s.id = t.step_id
            where t.last_n >= item_n and s.bit = open_step.bit limit 1;
        end if;
        if place is null then
            select f.lane_id, f.attempt, f.ahead, f.is_cut, case when f.lane_id is not null or f.is_cut then 'ready' end
            into lane_id, attempt, ahead, is_cut, place
            from forebay.find_ready(job, open_step.bit, item_n, max_runs) f;
        end if;
        return next;
    end loop;
end $$;
