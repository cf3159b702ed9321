-- The repairs and the housekeeping that the sweeper repeats. Each is safe to run from several workers at once.

-- Makes the daily partitions of attempt (attempt_YYYYMMDD, UTC) from today to days_ahead, and those of earlier days whose
-- rows sit in attempt_default; the rows move over. Returns the names of the new ones. Waits at most 3 s for a lock,
-- behind which others would queue up: what could not be made now is made by a later sweep. With the rights of the tables' owner,
-- as a worker's account owns nothing.
create or replace function forebay.make_partitions(now timestamptz default null, days_ahead int default 3)
returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set timezone = 'UTC' as $$
declare
    today date := coalesce(now, clock_timestamp())::date;
    day date;
    part text;
    made text[] := '{}';
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662));
    for day in
        select today + d from generate_series(0, days_ahead) d
        union
        select distinct d.ended_at::date from forebay.attempt_default d
        where isfinite(d.ended_at) and d.ended_at::date between '2000-01-01' and today
        order by 1
    loop
        part := 'attempt_' || to_char(day, 'YYYYMMDD');
        continue when to_regclass('forebay.' || part) is not null;
        begin
            -- The strongest lock at once: whoever reads attempt and then writes to it would deadlock with an upgrade.
            lock table forebay.attempt_default in access exclusive mode;
            execute format('create table forebay.%I (like forebay.attempt including defaults including indexes)', part);
            execute format(
                'with moved as (delete from forebay.attempt_default where ended_at >= %1$L and ended_at < %2$L returning *) '
                'insert into forebay.%3$I select * from moved', day::timestamptz, (day + 1)::timestamptz, part);
            execute format('alter table forebay.attempt attach partition forebay.%I for values from (%L) to (%L)',
                           part, day::timestamptz, (day + 1)::timestamptz);
            made := made || part;
        exception when lock_not_available then
            raise warning 'forebay: % was not made, the table is in use; a later sweep will', part;
            return made;
        end;
    end loop;
    return made;
end $$;

-- Drops the partitions of attempt that hold nothing younger than keep, and such rows of attempt_default. Returns the names.
create or replace function forebay.drop_partitions(now timestamptz default null, keep interval default '30 days')
returns text[] language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set timezone = 'UTC' as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    part text;
    dropped text[] := '{}';
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.partitions', 4662));
    for part in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'forebay.attempt'::regclass and c.relname ~ '^attempt_\d{8}$'
          and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= horizon
        order by 1
    loop
        begin
            execute format('drop table forebay.%I', part);
            dropped := dropped || part;
        exception when lock_not_available then
            raise warning 'forebay: % was not dropped, the table is in use; a later sweep will', part;
            exit;
        end;
    end loop;
    delete from forebay.attempt_default d where d.ended_at < horizon;
    return dropped;
end $$;
revoke execute on function forebay.make_partitions(timestamptz, int), forebay.drop_partitions(timestamptz, interval) from public;

create or replace function forebay.pipeline_ids(names text[]) returns int[] language sql stable as $$
select array(select p.id from forebay.pipeline p where p.name = any(names))
$$;

-- Deletes jobs that finished more than keep ago with all that is theirs but attempts (those go by partition) and the audit.
-- A large job goes max_items at a time. Of pipelines: only of these, or of all but these. Returns the rows deleted: repeat until 0.
create or replace function forebay.delete_finished(
    now timestamptz default null, keep interval default '30 days', max_jobs int default 100, max_items int default 10000,
    of_pipelines text[] default null, but_pipelines text[] default null
) returns bigint language plpgsql set enable_seqscan = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - keep;
    only_ids int[] := case when of_pipelines is not null then forebay.pipeline_ids(of_pipelines) end;
    but_ids int[] := forebay.pipeline_ids(coalesce(but_pipelines, '{}'));
    doomed forebay.job;
    gone bigint;
    deleted bigint := 0;
begin
    for doomed in
        select j.* from forebay.job j where j.finished_at < horizon
          and (only_ids is null or j.pipeline_id = any(only_ids)) and not (j.pipeline_id = any(but_ids))
        order by j.finished_at limit max_jobs for update skip locked
    loop
        continue when not pg_try_advisory_xact_lock(hashtextextended('forebay.job', doomed.id));
        delete from forebay.item i where i.job_id = doomed.id and i.n = any(array(
            select d.n from forebay.item d where d.job_id = doomed.id order by d.n limit max_items - deleted));
        get diagnostics gone = row_count;
        deleted := deleted + gone;
        exit when deleted >= max_items;
        delete from forebay.dead_letter d where d.job_id = doomed.id;
        -- What may be left of it in its owner's lane is dropped by drop_dead_runs(): looking for it here costs too much.
        delete from forebay.ready r
        where r.step_id = any(forebay.steps_of(doomed)) and r.job_id = doomed.id
          and r.lane_id in (select l.id from forebay.lane l where l.job_id = doomed.id);
        delete from forebay.scheduled s where s.job_id = doomed.id;
        delete from forebay.lease l where l.job_id = doomed.id;
        delete from forebay.lane l where l.job_id = doomed.id;
        with gone as (
            delete from forebay.job j where j.id = doomed.id returning j.*
        )
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select g.owner_id, g.pipeline_id, -g.done, -g.skipped, -g.not_found, -g.error from gone g where g.total > 0;
        deleted := deleted + 1;
        exit when deleted >= max_items;
    end loop;
    return deleted;
end $$;

-- Deletes what was audited more than keep ago, oldest first, max_rows at a time. Returns how many: repeat until 0.
create or replace function forebay.delete_audit(
    now timestamptz default null, keep interval default '365 days', max_rows int default 10000
) returns int language plpgsql set enable_seqscan = off as $$
declare deleted int;
begin
    delete from forebay.audit a
    where a.id = any(array(select o.id from forebay.audit o order by o.id limit max_rows))
      and a.at < coalesce(now, clock_timestamp()) - keep;
    get diagnostics deleted = row_count;
    return deleted;
end $$;

-- Deletes what the service needs no more: sessions and links that are over, old wrong passwords, answers kept for a day.
-- At most max_rows of each. Returns how many: repeat until 0.
create or replace function forebay.tidy_service(now timestamptz default null, max_rows int default 10000)
returns bigint language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    gone bigint;
    deleted bigint := 0;
begin
    delete from forebay.session where ctid = any(array(
        select s.ctid from forebay.session s where s.expires_at < at limit max_rows));
    get diagnostics deleted = row_count;
    delete from forebay.invitation where ctid = any(array(
        select i.ctid from forebay.invitation i where i.expires_at < at - interval '30 days' limit max_rows));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    delete from forebay.sign_in_failure where ctid = any(array(
        select f.ctid from forebay.sign_in_failure f where f.last_at < at - interval '1 day' limit max_rows));
    get diagnostics gone = row_count;
    deleted := deleted + gone;
    delete from forebay.idempotency where ctid = any(array(
        select k.ctid from forebay.idempotency k where k.created_at < at - interval '1 day' limit max_rows));
    get diagnostics gone = row_count;
    return deleted + gone;
end $$;

-- Deletes lanes that have had nothing to do for `idle`: those of owners, and those of jobs that are over.
create or replace function forebay.tidy_lanes(now timestamptz default null, idle interval default '1 hour')
returns int language plpgsql set jit = off as $$
declare
    horizon timestamptz := coalesce(now, clock_timestamp()) - idle;
    candidates bigint[];
    deleted int;
begin
    candidates := array(
        select l.id from forebay.lane l left join forebay.job j on l.job_id <> 0 and j.id = l.job_id
        where l.used_at < horizon and l.busy_until < horizon
          and case when l.job_id = 0 then not l.paused else j.id is null or j.finished_at < horizon end);
    if candidates = '{}' then
        return 0;  -- spares the look at all scheduled runs
    end if;
    delete from forebay.lane l
    where l.id = any(candidates)
      and not exists (select from forebay.step s cross join lateral (
          select from forebay.ready r where r.step_id = s.id and r.lane_id = l.id limit 1) r)
      and not exists (select from forebay.scheduled s where s.lane_id = l.id)
      and not exists (select from forebay.lease e where e.lane_id = l.id);
    get diagnostics deleted = row_count;
    return deleted;
end $$;

-- The (step, lane) pairs that have ready runs, paused or not, with the first run of each.
create or replace function forebay.ready_lanes() returns table (step_id int, lane_id bigint, seq bigint, job_id bigint)
language sql stable rows 100 set enable_seqscan = off as $$
select s.id, p.lane_id, p.seq, p.job_id from forebay.step s cross join lateral (
    with recursive pair as (
        (select r.lane_id, r.seq, r.job_id from forebay.ready r where r.step_id = s.id order by r.lane_id, r.seq limit 1)
        union all
        select n.* from pair p cross join lateral (
            select r.lane_id, r.seq, r.job_id from forebay.ready r where r.step_id = s.id and r.lane_id > p.lane_id
            order by r.lane_id, r.seq limit 1) n)
    select * from pair) p
$$;

-- Drops runs of jobs that are no more from the heads of their lanes, where they would stop all others. Returns how many.
create or replace function forebay.drop_dead_runs() returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare dropped int;
begin
    with blocked as materialized (
        select p.step_id, p.lane_id from forebay.ready_lanes() p
        where not exists (select from forebay.job j where j.id = p.job_id)
    )
    delete from forebay.ready where ctid = any(array(
        select r.place from blocked b cross join lateral (
            select r.ctid as place from forebay.ready r where r.step_id = b.step_id and r.lane_id = b.lane_id
              and not exists (select from forebay.job j where j.id = r.job_id)
            order by r.step_id, r.lane_id, r.seq limit 1000 for update of r skip locked) r));
    get diagnostics dropped = row_count;
    return dropped;
end $$;

-- Gives runs whose lane is gone (it was tidied away while they were being written) a lane again. Returns how many runs.
create or replace function forebay.adopt_orphans(now timestamptz default null) returns int
language plpgsql set jit = off as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    orphan record;
    moved int;
    adopted int := 0;
begin
    perform forebay.drop_dead_runs();
    for orphan in
        with lost as materialized (
            select p.step_id, p.lane_id from forebay.ready_lanes() p
            where not exists (select from forebay.lane l where l.id = p.lane_id)
        )
        select r.job_id, p.lane_id, array_agg(distinct p.step_id) as steps
        from lost p cross join lateral (
            select r.job_id from forebay.ready r where r.step_id = p.step_id and r.lane_id = p.lane_id offset 0) r
        group by r.job_id, p.lane_id
        union all
        select s.job_id, s.lane_id, '{}' from forebay.scheduled s
        where not exists (select from forebay.lane l where l.id = s.lane_id)
        group by s.job_id, s.lane_id
        order by 1
    loop
        continue when not exists (select from forebay.job j where j.id = orphan.job_id);
        with home as materialized (select forebay.lane_of(orphan.job_id) as lane_id),
        moved_ready as (
            update forebay.ready r set lane_id = h.lane_id from home h
            where r.step_id = any(orphan.steps) and r.lane_id = orphan.lane_id and r.job_id = orphan.job_id
            returning r.step_id, r.lane_id, r.seq),
        moved_scheduled as (
            update forebay.scheduled s set lane_id = h.lane_id from home h
            where s.job_id = orphan.job_id and s.lane_id = orphan.lane_id
            returning 1),
        woken as (
            select count(forebay.wake(m.step_id, m.lane_id, m.seq, at))
            from (select step_id, lane_id, min(seq) as seq from moved_ready group by step_id, lane_id) m)
        select (select count(*) from moved_ready) + (select count(*) from moved_scheduled) into moved from woken;
        adopted := adopted + moved;
    end loop;
    return adopted;
end $$;

-- Writes off workers that have not been seen for lost_after: their leases run out now. One that comes back is alive again.
-- Those that stopped long ago are forgotten. Returns how many were written off.
create or replace function forebay.close_workers(
    now timestamptz default null, lost_after interval default '5 minutes', forget_after interval default '30 days'
) returns int language plpgsql as $$
declare
    at timestamptz := coalesce(now, clock_timestamp());
    lost bigint[];
begin
    with closed as (
        update forebay.worker w set stopped_at = at
        where w.id = any(array(select v.id from forebay.worker v where v.stopped_at is null and v.seen_at < at - lost_after
                               for update skip locked))
        returning w.id)
    select array_agg(c.id) into lost from closed c;
    update forebay.lease l set expires_at = at
    where l.token = any(array(select h.token from forebay.lease h where h.worker_id = any(lost) and h.expires_at > at
                              order by h.token for update skip locked));
    delete from forebay.worker w where w.stopped_at < at - forget_after;
    return coalesce(cardinality(lost), 0);
end $$;

-- Adds up the tallies of one owner and pipeline that have gathered since the last time. Returns how many rows fewer there are.
create or replace function forebay.fold_tallies() returns bigint language plpgsql set jit = off as $$
declare fewer bigint;
begin
    with gathered as materialized (
        select t.owner_id, t.pipeline_id from forebay.tally t group by t.owner_id, t.pipeline_id having count(*) > 1
    ),
    old as (
        delete from forebay.tally t where t.ctid = any(array(
            select o.ctid from forebay.tally o
            join gathered g on g.owner_id = o.owner_id and g.pipeline_id = o.pipeline_id
            for update of o skip locked))
        returning t.*
    ),
    new as (
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select f.* from (
            select o.owner_id, o.pipeline_id, sum(o.done)::bigint as done, sum(o.skipped)::bigint as skipped,
                   sum(o.not_found)::bigint as not_found, sum(o.error)::bigint as error
            from old o group by o.owner_id, o.pipeline_id) f
        where (f.done, f.skipped, f.not_found, f.error) <> (0, 0, 0, 0)
        returning 1
    )
    select (select count(*) from old) - (select count(*) from new) into fewer;
    return fewer;
end $$;

-- Makes the tallies anew from what the jobs say, while nobody changes a job: for who has deleted jobs by hand.
create or replace function forebay.recount() returns void language plpgsql as $$
begin
    lock table forebay.job in share row exclusive mode;
    lock table forebay.tally in exclusive mode;
    delete from forebay.tally;
    insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
    select j.owner_id, j.pipeline_id, sum(j.done), sum(j.skipped), sum(j.not_found), sum(j.error)
    from forebay.job j group by j.owner_id, j.pipeline_id;
end $$;
