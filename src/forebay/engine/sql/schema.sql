-- What the migrations of engine add to the parts before; by scripts/schema_dump.py.
CREATE SCHEMA forebay;
CREATE TYPE forebay.item_status AS ENUM (
    'PENDING',
    'PROCESSING',
    'DONE',
    'SKIPPED',
    'NOT_FOUND',
    'ERROR'
);
CREATE TYPE forebay.outcome AS ENUM (
    'DONE',
    'SKIPPED',
    'NOT_FOUND',
    'ERROR',
    'CANCELLED',
    'SNOOZED',
    'THROTTLED',
    'RELEASED',
    'EXPIRED'
);
CREATE TYPE forebay.follow_up_task AS (
	job_id bigint,
	n integer,
	step_id integer,
	lane_id bigint,
	owner_id bigint,
	version_id integer,
	mask bigint,
	status forebay.item_status,
	done bigint,
	dead bigint,
	adds_done bigint,
	adds_dead bigint,
	outcome forebay.outcome,
	attempt smallint,
	spent boolean,
	again_at timestamp with time zone,
	class text,
	reason text
);
CREATE TYPE forebay.job_state AS ENUM (
    'QUEUED',
    'RUNNING',
    'PAUSED',
    'DONE',
    'FAILED',
    'CANCELLED'
);
CREATE TYPE forebay.pace AS (
	since timestamp with time zone,
	ended integer,
	earlier timestamp with time zone,
	earlier_ended integer
);
CREATE TABLE forebay.pipeline (
    id integer NOT NULL,
    name text NOT NULL,
    steps bigint DEFAULT 0 NOT NULL,
    job_steps bigint DEFAULT 0 NOT NULL,
    roots integer[] DEFAULT '{}'::integer[] NOT NULL,
    max_input_bytes integer DEFAULT 1048576 NOT NULL,
    digest text DEFAULT ''::text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    version_id integer,
    CONSTRAINT pipeline_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);
CREATE TABLE forebay.ordered_task (
    pipeline_id integer NOT NULL,
    "bit" bigint NOT NULL,
    owner_id bigint NOT NULL,
    key text NOT NULL,
    job_id bigint NOT NULL,
    n integer NOT NULL,
    is_current boolean DEFAULT false NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE forebay.job (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    pipeline_id integer NOT NULL,
    state forebay.job_state DEFAULT 'QUEUED'::forebay.job_state NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    sealed boolean DEFAULT true NOT NULL,
    steps bigint NOT NULL,
    job_steps bigint DEFAULT 0 NOT NULL,
    total integer DEFAULT 0 NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    not_found integer DEFAULT 0 NOT NULL,
    error integer DEFAULT 0 NOT NULL,
    loaded bigint DEFAULT 0 NOT NULL,
    reaped integer DEFAULT '-1'::integer NOT NULL,
    lane_id bigint NOT NULL,
    first_seq bigint,
    key text,
    coalesces boolean DEFAULT false NOT NULL,
    meta jsonb,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ip inet DEFAULT (NULLIF(current_setting('forebay.ip'::text, true), ''::text))::inet,
    file text DEFAULT NULLIF(current_setting('forebay.file'::text, true), ''::text),
    trace text DEFAULT NULLIF(current_setting('forebay.trace'::text, true), ''::text),
    pace forebay.pace,
    last_error jsonb,
    summary_paths jsonb,
    version_id integer,
    key_turn integer DEFAULT 0 NOT NULL,
    parent_id bigint,
    parent_n integer,
    parent_bit bigint
)
WITH (fillfactor='70');
CREATE TABLE forebay.attempt (
    job_id bigint NOT NULL,
    n integer NOT NULL,
    step_id integer NOT NULL,
    attempt smallint NOT NULL,
    outcome forebay.outcome NOT NULL,
    owner_id bigint NOT NULL,
    worker_id bigint NOT NULL,
    token bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    class text,
    reason text
)
PARTITION BY RANGE (ended_at);
CREATE TABLE forebay.dead_letter (
    job_id bigint NOT NULL,
    n integer NOT NULL,
    step_id integer NOT NULL,
    owner_id bigint NOT NULL,
    outcome forebay.outcome NOT NULL,
    attempt smallint NOT NULL,
    class text,
    reason text,
    at timestamp with time zone NOT NULL
);
CREATE TABLE forebay.waiting (
    job_id bigint NOT NULL,
    n integer NOT NULL,
    "bit" bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    key text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    payload jsonb,
    signalled_at timestamp with time zone,
    CONSTRAINT waiting_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500))),
    CONSTRAINT waiting_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
)
WITH (fillfactor='80');
CREATE SEQUENCE forebay.token
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE forebay.lease (
    token bigint DEFAULT nextval('forebay.token'::regclass) NOT NULL,
    step_id integer NOT NULL,
    lane_id bigint NOT NULL,
    job_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    worker_id bigint NOT NULL,
    attempt smallint NOT NULL,
    cancelled boolean DEFAULT false NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ns int4multirange NOT NULL
)
WITH (fillfactor='60', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE forebay.item (
    job_id bigint NOT NULL,
    n integer NOT NULL,
    owner_id bigint NOT NULL,
    pipeline_id integer NOT NULL,
    status forebay.item_status DEFAULT 'PENDING'::forebay.item_status NOT NULL,
    verdict forebay.item_status DEFAULT 'DONE'::forebay.item_status NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    dead bigint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    key text,
    input jsonb NOT NULL,
    normalized jsonb,
    result jsonb,
    error jsonb,
    progress jsonb
)
WITH (fillfactor='50');
CREATE TABLE forebay.queue (
    name text NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    parked text,
    probe_at timestamp with time zone,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE forebay.step (
    id integer NOT NULL,
    pipeline_id integer NOT NULL,
    name text NOT NULL,
    "bit" bigint NOT NULL,
    needs bigint DEFAULT 0 NOT NULL,
    after_all boolean DEFAULT false NOT NULL,
    active boolean DEFAULT true NOT NULL,
    queue text NOT NULL,
    max_attempts smallint DEFAULT 3 NOT NULL,
    max_expiries smallint DEFAULT 20 NOT NULL,
    optional_needs bigint DEFAULT 0 NOT NULL,
    ordered boolean DEFAULT false NOT NULL,
    CONSTRAINT step_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);
CREATE TABLE forebay.attempt_default (
    job_id bigint CONSTRAINT attempt_job_id_not_null NOT NULL,
    n integer CONSTRAINT attempt_n_not_null NOT NULL,
    step_id integer CONSTRAINT attempt_step_id_not_null NOT NULL,
    attempt smallint CONSTRAINT attempt_attempt_not_null NOT NULL,
    outcome forebay.outcome CONSTRAINT attempt_outcome_not_null NOT NULL,
    owner_id bigint CONSTRAINT attempt_owner_id_not_null NOT NULL,
    worker_id bigint CONSTRAINT attempt_worker_id_not_null NOT NULL,
    token bigint CONSTRAINT attempt_token_not_null NOT NULL,
    started_at timestamp with time zone CONSTRAINT attempt_started_at_not_null NOT NULL,
    ended_at timestamp with time zone CONSTRAINT attempt_ended_at_not_null NOT NULL,
    class text,
    reason text
);
CREATE TABLE forebay.owner (
    id bigint NOT NULL,
    name text NOT NULL,
    weight real DEFAULT 1 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT owner_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT owner_weight_check CHECK (((weight >= (0.01)::double precision) AND (weight <= (1000)::double precision)))
);
CREATE TABLE forebay.worker (
    id bigint NOT NULL,
    name text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    stale bigint DEFAULT 0 NOT NULL,
    stats jsonb DEFAULT '{}'::jsonb NOT NULL,
    last_error text,
    versions integer[] DEFAULT '{}'::integer[] NOT NULL,
    steps integer[] DEFAULT '{}'::integer[] NOT NULL,
    schedules text[]
);
CREATE VIEW forebay.attempts WITH (security_invoker='true') AS
 SELECT a.job_id,
    a.n,
    p.name AS pipeline,
    s.name AS step,
    o.name AS owner,
    a.attempt,
    a.outcome,
    a.class,
    a.reason,
    a.started_at,
    a.ended_at,
    (a.ended_at - a.started_at) AS duration,
    w.name AS worker,
    a.worker_id,
    a.token
   FROM ((((forebay.attempt a
     JOIN forebay.step s ON ((s.id = a.step_id)))
     JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = a.owner_id)))
     LEFT JOIN forebay.worker w ON ((w.id = a.worker_id)));
CREATE TABLE forebay.audit (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    owner_id bigint,
    job_id bigint,
    n integer,
    detail jsonb
);
ALTER TABLE forebay.audit ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE UNLOGGED TABLE forebay.busy_lane (
    lane_id bigint NOT NULL,
    step_id integer NOT NULL,
    until timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
CREATE TABLE forebay.child_change (
    job_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    action text NOT NULL,
    actor text NOT NULL,
    after_n integer NOT NULL,
    after_id bigint NOT NULL
);
CREATE TABLE forebay.controller_sample (
    minute timestamp with time zone NOT NULL,
    step_id integer NOT NULL,
    running integer NOT NULL,
    concurrency real NOT NULL,
    claim_size real NOT NULL,
    item_ms real,
    lease_s real
);
CREATE VIEW forebay.dead_letters WITH (security_invoker='true') AS
 SELECT d.at,
    d.job_id,
    d.n,
    p.name AS pipeline,
    s.name AS step,
    o.name AS owner,
    d.outcome,
    d.class,
    d.reason,
    d.attempt,
    i.key,
    i.input
   FROM ((((forebay.dead_letter d
     JOIN forebay.step s ON ((s.id = d.step_id)))
     JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = d.owner_id)))
     LEFT JOIN forebay.item i ON (((i.job_id = d.job_id) AND (i.n = d.n))));
CREATE TABLE forebay.deleted_jobs (
    at timestamp with time zone NOT NULL,
    owner_id bigint NOT NULL,
    job_ids bigint[] NOT NULL
);
CREATE VIEW forebay.items WITH (security_invoker='true') AS
 SELECT i.job_id,
    i.n,
    p.name AS pipeline,
    o.name AS owner,
        CASE
            WHEN ((i.status = 'PENDING'::forebay.item_status) AND (running.steps IS NOT NULL)) THEN 'PROCESSING'::forebay.item_status
            ELSE i.status
        END AS status,
    running.steps AS running,
    forebay.step_names(i.pipeline_id, i.done) AS done,
    forebay.step_names(i.pipeline_id, (i.dead & (~ i.done))) AS dead,
    i.key,
    i.input,
    i.normalized,
    i.result,
    i.error,
    i.progress,
    i.created_at,
    i.updated_at
   FROM (((forebay.item i
     JOIN forebay.pipeline p ON ((p.id = i.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = i.owner_id)))
     LEFT JOIN LATERAL ( SELECT array_agg(s.name ORDER BY s."bit") AS steps
           FROM (forebay.lease l
             JOIN forebay.step s ON ((s.id = l.step_id)))
          WHERE ((i.status = 'PENDING'::forebay.item_status) AND (l.job_id = i.job_id) AND (l.ns @> i.n))) running ON (true));
ALTER TABLE forebay.job ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW forebay.jobs WITH (security_invoker='true') AS
 SELECT j.id,
    p.name AS pipeline,
    o.name AS owner,
    j.state,
    j.priority,
    j.key,
    j.total,
    j.done,
    j.skipped,
    j.not_found,
    j.error,
    (j.total - e.ended) AS open,
        CASE
            WHEN (j.total = 0) THEN (
            CASE
                WHEN (j.finished_at IS NULL) THEN 0
                ELSE 100
            END)::numeric
            ELSE trunc(((100.0 * (e.ended)::numeric) / (j.total)::numeric), 1)
        END AS percent,
    (clock_timestamp() + make_interval(secs => forebay.eta_seconds(j.*))) AS eta,
    j.sealed,
    j.meta,
    j.created_at,
    j.started_at,
    j.finished_at,
    j.updated_at,
    forebay.heartbeat_at(j.*) AS heartbeat_at,
    j.last_error
   FROM (((forebay.job j
     CROSS JOIN LATERAL ( SELECT (((j.done + j.skipped) + j.not_found) + j.error) AS ended) e)
     JOIN forebay.pipeline p ON ((p.id = j.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = j.owner_id)));
CREATE TABLE forebay.kept_signal (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    key text NOT NULL,
    payload jsonb,
    at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT kept_signal_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500))),
    CONSTRAINT kept_signal_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE forebay.kept_signal ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.kept_signal_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.lane (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    job_id bigint DEFAULT 0 NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    busy_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    limit_name text DEFAULT ''::text NOT NULL,
    limit_key text DEFAULT ''::text NOT NULL
);
ALTER TABLE forebay.lane ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.lane_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW forebay.last_hour WITH (security_invoker='true') AS
 SELECT p.name AS pipeline,
    s.name AS step,
    count(*) AS attempts,
    count(*) FILTER (WHERE (a.outcome = 'DONE'::forebay.outcome)) AS done,
    count(*) FILTER (WHERE (a.outcome = 'ERROR'::forebay.outcome)) AS errors,
    count(*) FILTER (WHERE (a.outcome = 'EXPIRED'::forebay.outcome)) AS expired,
    round(avg(EXTRACT(epoch FROM (a.ended_at - a.started_at))) FILTER (WHERE (a.outcome = 'DONE'::forebay.outcome)), 3) AS average_s,
    round((percentile_cont((0.95)::double precision) WITHIN GROUP (ORDER BY ((EXTRACT(epoch FROM (a.ended_at - a.started_at)))::double precision)) FILTER (WHERE (a.outcome = 'DONE'::forebay.outcome)))::numeric, 3) AS p95_s,
    round(((count(*) FILTER (WHERE (a.outcome = ANY (ARRAY['ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome]))))::numeric / (NULLIF(count(*) FILTER (WHERE (a.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome, 'ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome]))), 0))::numeric), 4) AS failure_rate,
    round(((count(*) FILTER (WHERE (a.outcome = 'NOT_FOUND'::forebay.outcome)))::numeric / (NULLIF(count(*) FILTER (WHERE (a.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome, 'ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome]))), 0))::numeric), 4) AS not_found_rate,
    round(((count(*) FILTER (WHERE ((a.outcome = 'THROTTLED'::forebay.outcome) AND (a.class IS NOT NULL))))::numeric / (NULLIF(count(*) FILTER (WHERE ((a.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome, 'ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome])) OR ((a.outcome = 'THROTTLED'::forebay.outcome) AND (a.class IS NOT NULL)))), 0))::numeric), 4) AS throttle_rate
   FROM ((forebay.attempt a
     JOIN forebay.step s ON ((s.id = a.step_id)))
     JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
  WHERE ((a.ended_at > (now() - '01:00:00'::interval)) AND (a.attempt > 0))
  GROUP BY p.name, s.name;
CREATE TABLE forebay.migration (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    part text NOT NULL,
    contracts boolean DEFAULT false NOT NULL
);
CREATE VIEW forebay.ordered_tasks WITH (security_invoker='true') AS
 SELECT p.name AS pipeline,
    (forebay.step_names(p.id, t."bit"))[1] AS step,
    o.name AS owner,
    t.key,
    t.job_id,
    t.n,
    t.is_current
   FROM ((forebay.ordered_task t
     JOIN forebay.pipeline p ON ((p.id = t.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = t.owner_id)));
ALTER TABLE forebay.owner ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.owner_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.owner_sample (
    minute timestamp with time zone NOT NULL,
    owner_id bigint NOT NULL,
    ready bigint NOT NULL,
    running bigint NOT NULL,
    attempts_per_s real NOT NULL,
    fair_share real NOT NULL
);
CREATE TABLE forebay.part (
    name text NOT NULL,
    routines text NOT NULL
);
CREATE TABLE forebay.part_routine (
    type text NOT NULL,
    identity text NOT NULL,
    part text NOT NULL
);
ALTER TABLE forebay.pipeline ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.pipeline_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.pipeline_version (
    id integer NOT NULL,
    pipeline_id integer NOT NULL,
    digest text NOT NULL,
    steps bigint NOT NULL,
    job_steps bigint NOT NULL,
    roots integer[] NOT NULL,
    max_input_bytes integer NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    unserved_since timestamp with time zone
);
ALTER TABLE forebay.pipeline_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME forebay.pipeline_version_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE forebay.seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE forebay.ready (
    step_id integer NOT NULL,
    lane_id bigint NOT NULL,
    seq bigint DEFAULT nextval('forebay.seq'::regclass) NOT NULL,
    job_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    first_n integer NOT NULL,
    last_n integer NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE forebay.scheduled (
    run_at timestamp with time zone NOT NULL,
    seq bigint DEFAULT nextval('forebay.seq'::regclass) NOT NULL,
    step_id integer NOT NULL,
    lane_id bigint NOT NULL,
    job_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    first_n integer NOT NULL,
    last_n integer NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE forebay.version_step (
    version_id integer NOT NULL,
    "bit" bigint NOT NULL,
    step_id integer NOT NULL,
    name text NOT NULL,
    place smallint NOT NULL,
    needs bigint NOT NULL,
    downstream bigint NOT NULL,
    optional boolean NOT NULL,
    after_all boolean NOT NULL,
    queue text NOT NULL,
    max_attempts smallint NOT NULL,
    max_expiries smallint NOT NULL,
    ordered boolean DEFAULT false NOT NULL
);
CREATE VIEW forebay.queue_depth WITH (security_invoker='true') AS
 SELECT p.name AS pipeline,
    s.name AS step,
    max(s.queue) AS queue,
    (COALESCE(sum(r.ready), (0)::numeric))::bigint AS ready,
    (COALESCE(sum(t.scheduled), (0)::numeric))::bigint AS scheduled,
    (COALESCE(sum(e.leased), (0)::numeric))::bigint AS leased,
    ((COALESCE(sum(r.on_hold), (0)::numeric) + COALESCE(sum(t.on_hold), (0)::numeric)))::bigint AS on_hold,
    min(t.next_at) AS next_at,
    bool_or(q.paused) AS paused,
    max(q.parked) AS parked,
    min(q.probe_at) AS probe_at,
    min(v.place) AS place,
    ( SELECT j.created_at
           FROM forebay.job j
          WHERE (j.id = min(r.oldest_job))) AS oldest_at
   FROM ((((((forebay.step s
     JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
     JOIN forebay.queue q ON ((q.name = s.queue)))
     LEFT JOIN forebay.version_step v ON (((v.version_id = p.version_id) AND (v."bit" = s."bit"))))
     LEFT JOIN ( SELECT g.step_id,
            (sum(g.tasks) FILTER (WHERE (l.paused IS NOT TRUE)))::bigint AS ready,
            (sum(g.tasks) FILTER (WHERE l.paused))::bigint AS on_hold,
            min(g.oldest_job) FILTER (WHERE (l.paused IS NOT TRUE)) AS oldest_job
           FROM (( SELECT r_1.step_id,
                    r_1.lane_id,
                    sum(((r_1.last_n - r_1.first_n) + 1)) AS tasks,
                    min(r_1.job_id) AS oldest_job
                   FROM forebay.ready r_1
                  GROUP BY r_1.step_id, r_1.lane_id) g
             LEFT JOIN forebay.lane l ON ((l.id = g.lane_id)))
          GROUP BY g.step_id) r ON ((r.step_id = s.id)))
     LEFT JOIN ( SELECT scheduled.step_id,
            sum(((scheduled.last_n - scheduled.first_n) + 1)) FILTER (WHERE (scheduled.run_at < 'infinity'::timestamp with time zone)) AS scheduled,
            sum(((scheduled.last_n - scheduled.first_n) + 1)) FILTER (WHERE (scheduled.run_at = 'infinity'::timestamp with time zone)) AS on_hold,
            min(scheduled.run_at) FILTER (WHERE (scheduled.run_at < forebay.waits_in_order())) AS next_at
           FROM forebay.scheduled
          GROUP BY scheduled.step_id) t ON ((t.step_id = s.id)))
     LEFT JOIN ( SELECT l.step_id,
            sum((upper(r_1.r) - lower(r_1.r))) AS leased
           FROM (forebay.lease l
             CROSS JOIN LATERAL unnest(l.ns) r_1(r))
          GROUP BY l.step_id) e ON ((e.step_id = s.id)))
  WHERE (s.active OR (r.step_id IS NOT NULL) OR (t.step_id IS NOT NULL) OR (e.step_id IS NOT NULL))
  GROUP BY p.name, s.name;
CREATE TABLE forebay.rate_limit (
    name text NOT NULL,
    key text NOT NULL,
    next_at timestamp with time zone NOT NULL,
    waiting integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
CREATE TABLE forebay.schedule (
    name text NOT NULL,
    pipeline_id integer NOT NULL,
    owner_id bigint NOT NULL,
    cron text NOT NULL,
    timezone text DEFAULT 'UTC'::text NOT NULL,
    input jsonb NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    next_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone,
    last_job_id bigint,
    declared boolean DEFAULT false NOT NULL,
    overlap boolean DEFAULT true NOT NULL,
    jitter_s double precision DEFAULT 0 NOT NULL,
    backfill boolean DEFAULT false NOT NULL,
    due_field text DEFAULT ''::text NOT NULL
);
CREATE TABLE forebay.slot_lease (
    name text NOT NULL,
    key text NOT NULL,
    worker_id bigint NOT NULL,
    slots integer NOT NULL,
    wanted integer NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
CREATE TABLE forebay.slot_limit (
    name text NOT NULL,
    key text NOT NULL,
    waiting integer DEFAULT 0 NOT NULL,
    hold_s real DEFAULT 0.1 NOT NULL,
    seen_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
ALTER TABLE forebay.step ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.step_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.tally (
    owner_id bigint NOT NULL,
    pipeline_id integer NOT NULL,
    done bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    not_found bigint DEFAULT 0 NOT NULL,
    error bigint DEFAULT 0 NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
CREATE TABLE forebay.throttled_task (
    job_id bigint NOT NULL,
    n integer NOT NULL,
    step_id integer NOT NULL,
    owner_id bigint NOT NULL,
    attempt smallint NOT NULL,
    waited_s double precision DEFAULT 0 NOT NULL,
    last_at timestamp with time zone NOT NULL,
    longest_s double precision NOT NULL
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000');
CREATE VIEW forebay.totals WITH (security_invoker='true') AS
 SELECT p.name AS pipeline,
    o.name AS owner,
    c.pending,
    c.processing,
    c.done,
    c.skipped,
    c.not_found,
    c.error
   FROM ((forebay.count_items() c(owner_id, pipeline_id, pending, processing, done, skipped, not_found, error)
     JOIN forebay.pipeline p ON ((p.id = c.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = c.owner_id)));
CREATE VIEW forebay.waits WITH (security_invoker='true') AS
 SELECT w.job_id,
    w.n,
    p.name AS pipeline,
    (forebay.step_names(p.id, w."bit"))[1] AS step,
    o.name AS owner,
    w.name AS signal,
    w.key,
    NULLIF(w.expires_at, 'infinity'::timestamp with time zone) AS until
   FROM ((((forebay.waiting w
     JOIN forebay.job j ON ((j.id = w.job_id)))
     JOIN forebay.item i ON (((i.job_id = w.job_id) AND (i.n = w.n) AND (i.status = 'PENDING'::forebay.item_status))))
     JOIN forebay.pipeline p ON ((p.id = j.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = w.owner_id)))
  WHERE ((w.name <> 'forebay.map'::text) AND (w.signalled_at IS NULL) AND (w.expires_at > clock_timestamp()));
ALTER TABLE forebay.worker ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.worker_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW forebay.workers WITH (security_invoker='true') AS
 WITH idle_work AS MATERIALIZED (
         SELECT DISTINCT ((p.name || '.'::text) || s.name) AS step
           FROM (((((( SELECT r_1.step_id,
                    r_1.lane_id,
                    r_1.job_id
                   FROM forebay.ready r_1
                 LIMIT 1000) r
             JOIN forebay.step s ON ((s.id = r.step_id)))
             JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
             JOIN forebay.queue q ON (((q.name = s.queue) AND (NOT q.paused) AND (q.parked IS NULL))))
             JOIN forebay.lane l ON (((l.id = r.lane_id) AND (NOT l.paused))))
             JOIN forebay.job j ON (((j.id = r.job_id) AND (j.updated_at < (now() - '00:05:00'::interval)) AND (j.state = ANY (ARRAY['QUEUED'::forebay.job_state, 'RUNNING'::forebay.job_state])))))
        )
 SELECT w.id,
    w.name,
    ((w.stopped_at IS NULL) AND (w.seen_at > (now() - '00:01:00'::interval))) AS alive,
    COALESCE(h.in_flight, (0)::bigint) AS in_flight,
    h.oldest_claim,
        CASE
            WHEN (w.stopped_at IS NOT NULL) THEN false
            WHEN (w.seen_at < (now() - '00:05:00'::interval)) THEN ((h.in_flight IS NOT NULL) OR (EXISTS ( SELECT
               FROM forebay.ready)))
            WHEN (h.newest_claim < (now() - '00:05:00'::interval)) THEN (NOT (EXISTS ( SELECT
               FROM forebay.attempt a
              WHERE ((a.worker_id = w.id) AND (a.ended_at > (now() - '00:05:00'::interval))))))
            WHEN ((h.in_flight IS NULL) AND (w.started_at < (now() - '00:05:00'::interval))) THEN (EXISTS ( SELECT
               FROM idle_work i
              WHERE (((w.stats -> 'steps'::text) -> i.step) @> '{"limited": false}'::jsonb)))
            ELSE false
        END AS stuck,
    w.stale,
    w.started_at,
    w.seen_at,
    w.stopped_at,
    w.stats
   FROM (forebay.worker w
     LEFT JOIN ( SELECT l.worker_id,
            sum((upper(r.r) - lower(r.r))) AS in_flight,
            min(l.claimed_at) AS oldest_claim,
            max(l.claimed_at) AS newest_claim
           FROM (forebay.lease l
             CROSS JOIN LATERAL unnest(l.ns) r(r))
          GROUP BY l.worker_id) h ON ((h.worker_id = w.id)));
ALTER TABLE ONLY forebay.attempt ATTACH PARTITION forebay.attempt_default DEFAULT;
ALTER TABLE ONLY forebay.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.busy_lane
    ADD CONSTRAINT busy_lane_pkey PRIMARY KEY (lane_id, step_id);
ALTER TABLE ONLY forebay.child_change
    ADD CONSTRAINT child_change_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY forebay.controller_sample
    ADD CONSTRAINT controller_sample_pkey PRIMARY KEY (minute, step_id);
ALTER TABLE ONLY forebay.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (job_id, n, step_id);
ALTER TABLE ONLY forebay.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (job_id, n);
ALTER TABLE ONLY forebay.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.kept_signal
    ADD CONSTRAINT kept_signal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (token);
ALTER TABLE ONLY forebay.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (part, version);
ALTER TABLE ONLY forebay.ordered_task
    ADD CONSTRAINT ordered_task_pkey PRIMARY KEY (pipeline_id, "bit", owner_id, key, job_id, n);
ALTER TABLE ONLY forebay.owner
    ADD CONSTRAINT owner_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.owner
    ADD CONSTRAINT owner_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.owner_sample
    ADD CONSTRAINT owner_sample_pkey PRIMARY KEY (minute, owner_id);
ALTER TABLE ONLY forebay.part
    ADD CONSTRAINT part_pkey PRIMARY KEY (name);
ALTER TABLE ONLY forebay.part_routine
    ADD CONSTRAINT part_routine_pkey PRIMARY KEY (type, identity);
ALTER TABLE ONLY forebay.pipeline
    ADD CONSTRAINT pipeline_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.pipeline
    ADD CONSTRAINT pipeline_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.pipeline_version
    ADD CONSTRAINT pipeline_version_pipeline_id_digest_key UNIQUE (pipeline_id, digest);
ALTER TABLE ONLY forebay.pipeline_version
    ADD CONSTRAINT pipeline_version_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.queue
    ADD CONSTRAINT queue_pkey PRIMARY KEY (name);
ALTER TABLE ONLY forebay.rate_limit
    ADD CONSTRAINT rate_limit_pkey PRIMARY KEY (name, key);
ALTER TABLE ONLY forebay.ready
    ADD CONSTRAINT ready_pkey PRIMARY KEY (step_id, lane_id, seq);
ALTER TABLE ONLY forebay.schedule
    ADD CONSTRAINT schedule_pkey PRIMARY KEY (name);
ALTER TABLE ONLY forebay.scheduled
    ADD CONSTRAINT scheduled_pkey PRIMARY KEY (run_at, seq);
ALTER TABLE ONLY forebay.slot_lease
    ADD CONSTRAINT slot_lease_pkey PRIMARY KEY (name, key, worker_id);
ALTER TABLE ONLY forebay.slot_limit
    ADD CONSTRAINT slot_limit_pkey PRIMARY KEY (name, key);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_variant UNIQUE (pipeline_id, "bit", needs, optional_needs, after_all);
ALTER TABLE ONLY forebay.throttled_task
    ADD CONSTRAINT throttled_task_pkey PRIMARY KEY (job_id, n, step_id);
ALTER TABLE ONLY forebay.version_step
    ADD CONSTRAINT version_step_pkey PRIMARY KEY (version_id, "bit");
ALTER TABLE ONLY forebay.waiting
    ADD CONSTRAINT waiting_pkey PRIMARY KEY (job_id, n, "bit");
ALTER TABLE ONLY forebay.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);
CREATE INDEX attempt_ended ON ONLY forebay.attempt USING brin (ended_at) WITH (autosummarize='on');
CREATE INDEX attempt_default_ended_at_idx ON forebay.attempt_default USING brin (ended_at) WITH (autosummarize='on');
CREATE INDEX attempt_task ON ONLY forebay.attempt USING btree (job_id, n);
CREATE INDEX attempt_default_job_id_n_idx ON forebay.attempt_default USING btree (job_id, n);
CREATE INDEX audit_job ON forebay.audit USING btree (job_id, id);
CREATE INDEX audit_owner ON forebay.audit USING btree (owner_id, id);
CREATE INDEX dead_letter_owner ON forebay.dead_letter USING btree (owner_id, at, job_id, n);
CREATE INDEX dead_letter_recent ON forebay.dead_letter USING btree (at, job_id, n);
CREATE INDEX deleted_jobs_at ON forebay.deleted_jobs USING btree (at);
CREATE UNIQUE INDEX item_key ON forebay.item USING btree (job_id, key) WHERE (key IS NOT NULL);
CREATE INDEX item_verdict ON forebay.item USING btree (job_id, n) WHERE (verdict <> 'DONE'::forebay.item_status);
CREATE INDEX job_cancelling ON forebay.job USING btree (id) WHERE ((state = 'CANCELLED'::forebay.job_state) AND (finished_at IS NULL));
CREATE INDEX job_changed ON forebay.job USING btree (owner_id, updated_at) WHERE (finished_at IS NULL);
CREATE INDEX job_children ON forebay.job USING btree (parent_id, parent_n, id) WHERE (parent_id IS NOT NULL);
CREATE INDEX job_coalescing ON forebay.job USING btree (pipeline_id, owner_id, key) WHERE (coalesces AND (finished_at IS NULL));
CREATE INDEX job_finished ON forebay.job USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX job_key_turn ON forebay.job USING btree (pipeline_id, owner_id, key, key_turn) WHERE ((key IS NOT NULL) AND (NOT coalesces));
CREATE INDEX job_open ON forebay.job USING btree (owner_id, id) WHERE (finished_at IS NULL);
CREATE INDEX job_owner ON forebay.job USING btree (owner_id, id);
CREATE INDEX job_unsealed ON forebay.job USING btree (id) WHERE (NOT sealed);
CREATE INDEX kept_signal_at ON forebay.kept_signal USING btree (at);
CREATE INDEX kept_signal_expiry ON forebay.kept_signal USING btree (expires_at);
CREATE INDEX kept_signal_of ON forebay.kept_signal USING btree (owner_id, name, key, id);
CREATE INDEX lane_job ON forebay.lane USING btree (job_id) WHERE (job_id <> 0);
CREATE UNIQUE INDEX lane_of_key ON forebay.lane USING btree (owner_id, job_id, priority, limit_name, limit_key);
CREATE INDEX lane_unused_key ON forebay.lane USING btree (used_at) WHERE ((limit_name <> ''::text) AND (job_id = 0));
CREATE INDEX lease_job ON forebay.lease USING btree (job_id);
CREATE UNIQUE INDEX ordered_task_current ON forebay.ordered_task USING btree (pipeline_id, "bit", owner_id, key) WHERE is_current;
CREATE UNIQUE INDEX ordered_task_of_item ON forebay.ordered_task USING btree (job_id, n, "bit");
CREATE INDEX schedule_next ON forebay.schedule USING btree (next_at) WHERE (NOT paused);
CREATE INDEX scheduled_task ON forebay.scheduled USING btree (job_id, first_n);
CREATE INDEX waiting_for ON forebay.waiting USING btree (owner_id, name, key) WHERE (signalled_at IS NULL);
ALTER INDEX forebay.attempt_ended ATTACH PARTITION forebay.attempt_default_ended_at_idx;
ALTER INDEX forebay.attempt_task ATTACH PARTITION forebay.attempt_default_job_id_n_idx;
CREATE CONSTRAINT TRIGGER take_kept AFTER INSERT OR UPDATE OF name, key ON forebay.waiting DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION forebay.take_kept_signal();
ALTER TABLE ONLY forebay.pipeline_version
    ADD CONSTRAINT pipeline_version_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES forebay.pipeline(id);
ALTER TABLE ONLY forebay.schedule
    ADD CONSTRAINT schedule_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES forebay.owner(id);
ALTER TABLE ONLY forebay.schedule
    ADD CONSTRAINT schedule_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES forebay.pipeline(id);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES forebay.pipeline(id);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_queue_fkey FOREIGN KEY (queue) REFERENCES forebay.queue(name);
ALTER TABLE ONLY forebay.version_step
    ADD CONSTRAINT version_step_queue_fkey FOREIGN KEY (queue) REFERENCES forebay.queue(name);
ALTER TABLE ONLY forebay.version_step
    ADD CONSTRAINT version_step_step_id_fkey FOREIGN KEY (step_id) REFERENCES forebay.step(id);
ALTER TABLE ONLY forebay.version_step
    ADD CONSTRAINT version_step_version_id_fkey FOREIGN KEY (version_id) REFERENCES forebay.pipeline_version(id) ON DELETE CASCADE;
