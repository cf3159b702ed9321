-- Moves open jobs of one version of a pipeline to another version, except those that a worker has tasks of. A step is enabled
-- by the steps that it needs, in any version; so what changes for an item are the tasks of steps that only one of the versions
-- has. Steps that are gone are not waited for. Returns how many jobs have changed.
create or replace function forebay.change_version(jobs bigint[], old_version int, new_version int, now timestamptz default null)
returns int language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    gone int[] := array(
        select o.step_id from forebay.version_step o where o.version_id = old_version
        except select n.step_id from forebay.version_step n where n.version_id = new_version);
    fresh int[] := array(
        select n.step_id from forebay.version_step n where n.version_id = new_version
        except select o.step_id from forebay.version_step o where o.version_id = old_version);
    mine bigint[];
    lanes bigint[];
    from_seq bigint;
    run_steps int[];
    run_lanes bigint[];
    run_seqs bigint[];
    changed bigint[];
    job forebay.job;
begin
    mine := array(select j from unnest(jobs) j where pg_try_advisory_xact_lock(hashtextextended('forebay.job', j)));
    perform forebay.hold_order(mine);
    -- A claim or a promotion of these runs that is under way ends first: the next statement sees its lease.
    perform from forebay.scheduled s where s.job_id = any(mine) and s.step_id = any(gone) for update;
    from_seq := (select min(coalesce(j.first_seq, 0)) from forebay.job j where j.id = any(mine));
    lanes := array(
        select l.id from forebay.lane l
        where l.job_id = 0 and l.owner_id in (select j.owner_id from forebay.job j where j.id = any(mine))
        union select l.id from forebay.lane l where l.job_id = any(mine) and l.job_id <> 0
        union select j.lane_id from forebay.job j where j.id = any(mine));
    select array_agg(r.step_id), array_agg(r.lane_id), array_agg(r.seq) into run_steps, run_lanes, run_seqs
    from (select r.step_id, r.lane_id, r.seq from forebay.ready r
          where r.step_id = any(gone) and r.lane_id = any(lanes) and r.seq >= from_seq and r.job_id = any(mine) for update) r;
    with moved as (
        update forebay.job j set version_id = v.id, steps = v.steps, job_steps = v.job_steps
        from forebay.pipeline_version v
        where j.id = any(mine) and j.finished_at is null and j.state <> 'CANCELLED' and v.id = new_version
          and coalesce(j.version_id, -j.pipeline_id) = old_version and not exists (select from forebay.lease l where l.job_id = j.id)
        returning j.id
    )
    select coalesce(array_agg(m.id), '{}') into changed from moved m;
    -- What the new version has after a step that has failed dies with it.
    update forebay.item i set dead = i.dead | (
        select coalesce(bit_or(s.downstream), 0) & ~i.done from forebay.version_step s
        where s.version_id = new_version and s.bit & i.dead <> 0)
    where i.job_id = any(changed) and i.status = 'PENDING' and i.dead <> 0;
    perform forebay.rename_results(changed, old_version, new_version);
    with queued as (
        delete from forebay.ready r using unnest(run_steps, run_lanes, run_seqs) q(step_id, lane_id, seq)
        where r.step_id = q.step_id and r.lane_id = q.lane_id and r.seq = q.seq and r.job_id = any(changed)
    ),
    scheduled as (
        delete from forebay.scheduled s where s.job_id = any(changed) and s.step_id = any(gone)
        returning s.job_id, case when s.run_at = 'infinity' then int4range(s.first_n, s.last_n, '[]') end as ns
    ),
    paused as (
        select s.job_id, range_agg(s.ns) filter (where s.ns is not null) as ns from scheduled s group by s.job_id
    ),
    plan as materialized (
        select i.job_id, i.done, i.dead, i.n = 0 as is_job_item, range_agg(int4range(i.n, i.n, '[]')) as ns
        from forebay.item i
        where i.job_id = any(changed) and i.status = 'PENDING' and (i.n > 0 or forebay.first_open_item(i.job_id) is null)
        group by 1, 2, 3, 4
    ),
    wanted as materialized (
        select p.job_id, j.owner_id, s.step_id, coalesce(h.ns, '{}') as paused, range_agg(p.ns) as ns
        from plan p
        join forebay.version_step s on s.version_id = new_version and s.step_id = any(fresh) and s.after_all = p.is_job_item
            and s.bit & (p.done | p.dead) = 0 and s.needs & ~p.done = 0
        join forebay.job j on j.id = p.job_id
        left join paused h on h.job_id = p.job_id
        group by p.job_id, j.owner_id, s.step_id, h.ns
    ),
    set_aside as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
        select 'infinity', w.step_id, forebay.lane_of(w.job_id), w.job_id, w.owner_id, lower(r), upper(r) - 1
        from wanted w cross join lateral unnest(w.ns * w.paused) r
    ),
    added as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
        select w.step_id, forebay.lane_of(w.job_id), w.job_id, w.owner_id, f, least(f + 499, upper(r) - 1)
        from wanted w cross join lateral unnest(w.ns - w.paused) r cross join lateral generate_series(lower(r), upper(r) - 1, 500) f
        order by w.job_id, w.step_id, f
        returning step_id, lane_id, seq
    )
    select array_agg(a.step_id), array_agg(a.lane_id), array_agg(a.seq) into run_steps, run_lanes, run_seqs
    from (select a.step_id, a.lane_id, min(a.seq) as seq from added a group by 1, 2) a;
    perform forebay.wake(a.step_id, a.lane_id, a.seq, at) from unnest(run_steps, run_lanes, run_seqs) a(step_id, lane_id, seq);
    for job in select j.* from forebay.job j where j.id = any(changed) order by j.id loop
        perform forebay.end_complete_items(job, at);
    end loop;
    perform forebay.end_ordered_of(changed, at);
    return cardinality(changed);
end $$;
