-- Protects the tables of the engine: rows belong to owners, and the processes of the service log in with their roles.
do $$ begin
    if forebay.has_roles() then
        grant usage on schema forebay to forebay_api, forebay_admin, forebay_identity, forebay_worker;
        grant usage on sequence forebay.seq, forebay.token to forebay_api, forebay_admin, forebay_identity, forebay_worker;
        grant execute on function forebay.make_partitions(timestamptz, int), forebay.drop_partitions(timestamptz, interval)
            to forebay_worker;
        grant execute on function forebay.contention(bigint, int, bigint, smallint, text, text, int),
            forebay.limit_use(text, text, timestamptz) to forebay_api, forebay_admin;
        revoke select on forebay.worker from forebay_api;
    end if;
end $$;

select forebay.own('job'), forebay.own('item'), forebay.own('lane'), forebay.own('ready'), forebay.own('scheduled'),
       forebay.own('waiting'), forebay.own('kept_signal'), forebay.own('lease'), forebay.own('dead_letter'),
       forebay.own('throttled_task'), forebay.own('ordered_task'), forebay.own('schedule'), forebay.own('deleted_jobs', 'select'),
       forebay.own('child_change'), forebay.own('owner_sample', 'select'),
       forebay.own('attempt', 'select, insert', 'select, insert'),
       forebay.own('audit', 'select, insert', 'select, insert, delete'),
       forebay.own('tally', 'select, insert'),  -- workers update it to lock what they fold
       forebay.own('owner', 'select', owner_column => 'id');

-- Authentication creates owners, and records actions on accounts.
select forebay.add_policy('owner', 'of_identity', 'to forebay_identity using (true)'),
       forebay.add_policy('audit', 'of_identity', 'for insert to forebay_identity with check (true)'),
       forebay.permit('select, insert', 'owner', 'forebay_identity'),
       forebay.permit('insert', 'audit', 'forebay_identity');

select forebay.permit('select', 'migration', 'forebay_api', 'forebay_admin', 'forebay_identity', 'forebay_worker');
select forebay.permit('select', 'part', 'forebay_worker');
select forebay.permit('select', t, 'forebay_api', 'forebay_admin') from unnest('{pipeline,pipeline_version,version_step,step,queue}'::text[]) t;
select forebay.permit('select, delete', 'busy_lane', 'forebay_api', 'forebay_admin');
select forebay.permit('insert, update', 'owner', 'forebay_admin'), forebay.permit('update', 'queue', 'forebay_admin');
select forebay.permit('select, insert, update, delete', t, 'forebay_worker')
from unnest('{pipeline,pipeline_version,version_step,step,queue,worker,busy_lane,rate_limit,slot_limit,slot_lease,controller_sample}'::text[]) t;
select forebay.permit('select', t, 'forebay_admin')
from unnest('{worker,controller_sample,rate_limit,slot_limit,slot_lease,attempt_default,items,jobs,queue_depth,totals,last_hour,dead_letters,attempts,waits,ordered_tasks,workers}'::text[]) t;

-- The last error of a worker may concern any owner's item: owners may read only the other columns.
select forebay.permit('select (id, name, stats, stale, started_at, seen_at, stopped_at, steps)', 'worker', 'forebay_api');
-- Numbers only: those of the caller with security_invoker views (PostgreSQL 15 and newer), else those of all owners.
select forebay.permit('select', 'queue_depth', 'forebay_api'), forebay.permit('select', 'workers', 'forebay_api', 'forebay_worker');
