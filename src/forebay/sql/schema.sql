-- What the migrations make of an empty database; written by scripts/schema_dump.py.
CREATE SCHEMA forebay;
CREATE TYPE forebay.account_role AS ENUM (
    'user',
    'admin'
);
CREATE TYPE forebay.item_status AS ENUM (
    'PENDING',
    'PROCESSING',
    'DONE',
    'SKIPPED',
    'NOT_FOUND',
    'ERROR'
);
CREATE TYPE forebay.job_state AS ENUM (
    'QUEUED',
    'RUNNING',
    'PAUSED',
    'DONE',
    'FAILED',
    'CANCELLED'
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
CREATE TYPE forebay.sequel AS (
	job_id bigint,
	n integer,
	step_id integer,
	lane_id bigint,
	owner_id bigint,
	pipeline_id integer,
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
    CONSTRAINT job_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500)))
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
    progress jsonb,
    CONSTRAINT item_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500)))
);
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
    downstream bigint DEFAULT 0 NOT NULL,
    optional boolean DEFAULT false NOT NULL,
    after_all boolean DEFAULT false NOT NULL,
    active boolean DEFAULT true NOT NULL,
    queue text NOT NULL,
    max_attempts smallint DEFAULT 3 NOT NULL,
    max_expiries smallint DEFAULT 20 NOT NULL,
    CONSTRAINT step_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);
CREATE TABLE forebay.account (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    role forebay.account_role DEFAULT 'user'::forebay.account_role NOT NULL,
    password text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    signed_in_at timestamp with time zone,
    disabled_at timestamp with time zone,
    CONSTRAINT account_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._@+-]{0,98}[a-z0-9]$'::text))
);
ALTER TABLE forebay.account ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.account_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.api_token (
    id bigint NOT NULL,
    account_id bigint,
    name text NOT NULL,
    hash bytea NOT NULL,
    hint text NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_token_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
ALTER TABLE forebay.api_token ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.api_token_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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
    max_open_jobs integer,
    max_open_items bigint,
    submits_per_minute integer,
    CONSTRAINT owner_max_open_items_check CHECK ((max_open_items >= 0)),
    CONSTRAINT owner_max_open_jobs_check CHECK ((max_open_jobs >= 0)),
    CONSTRAINT owner_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT owner_submits_per_minute_check CHECK ((submits_per_minute >= 0)),
    CONSTRAINT owner_weight_check CHECK (((weight >= (0.01)::double precision) AND (weight <= (1000)::double precision)))
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
    CONSTRAINT pipeline_name_check CHECK ((name ~ '^[a-z][a-z0-9_]{0,62}$'::text))
);
CREATE TABLE forebay.worker (
    id bigint NOT NULL,
    name text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    stale bigint DEFAULT 0 NOT NULL,
    stats jsonb DEFAULT '{}'::jsonb NOT NULL,
    last_error text
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
CREATE TABLE forebay.blob (
    sha256 bytea NOT NULL,
    life bigint NOT NULL,
    size bigint NOT NULL,
    media_type text NOT NULL,
    stored_at timestamp with time zone,
    touched_at timestamp with time zone DEFAULT clock_timestamp(),
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT blob_sha256_check CHECK ((octet_length(sha256) = 32)),
    CONSTRAINT blob_size_check CHECK ((size >= 0))
);
ALTER TABLE forebay.blob ALTER COLUMN life ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.blob_life_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.bookmark (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    url text NOT NULL,
    page_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    job_id bigint,
    own_title text,
    note text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    category_id bigint,
    archived_at timestamp with time zone,
    crawl_every interval,
    next_crawl_at timestamp with time zone,
    kind text,
    kind_reason text,
    http_status integer,
    title text,
    description text,
    author text,
    site text,
    language text,
    canonical_url text,
    canonical_hash bytea,
    duplicate_of bigint,
    published_at timestamp with time zone,
    modified_at timestamp with time zone,
    body text,
    words integer,
    reading_minutes real,
    facts jsonb,
    body_hash bytea,
    etag text,
    last_modified text,
    crawled_at timestamp with time zone,
    changed_at timestamp with time zone,
    screenshot_id bigint,
    full_page_id bigint,
    image_id bigint,
    favicon_id bigint,
    image jsonb,
    ocr text,
    caption text,
    search tsvector GENERATED ALWAYS AS (forebay.searched(language, COALESCE(own_title, title), tags, site, description, note, body, ocr)) STORED,
    CONSTRAINT bookmark_crawl_every_check CHECK ((crawl_every >= '01:00:00'::interval)),
    CONSTRAINT bookmark_note_check CHECK ((length(note) <= 100000)),
    CONSTRAINT bookmark_own_title_check CHECK ((length(own_title) <= 1000)),
    CONSTRAINT bookmark_url_check CHECK (((length(url) >= 1) AND (length(url) <= 8192)))
);
CREATE TABLE forebay.bookmark_change (
    bookmark_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    title text,
    words integer,
    body_hash bytea
);
ALTER TABLE forebay.bookmark ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.bookmark_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW forebay.bookmark_messages WITH (security_invoker='true') AS
 SELECT j.id AS msg_id,
    0 AS read_ct,
    j.created_at AS enqueued_at,
    COALESCE(j.started_at, j.created_at) AS vt,
    j.finished_at,
    i.input AS message,
        CASE
            WHEN ((j.finished_at IS NOT NULL) AND (NOT (EXISTS ( SELECT
               FROM forebay.dead_letter d
              WHERE (d.job_id = j.id))))) THEN j.updated_at
            ELSE NULL::timestamp with time zone
        END AS archived_at
   FROM (forebay.job j
     JOIN forebay.item i ON (((i.job_id = j.id) AND (i.n = 1))))
  WHERE (j.pipeline_id = ( SELECT p.id
           FROM forebay.pipeline p
          WHERE (p.name = 'bookmarks'::text)));
CREATE TABLE forebay.bookmark_tag (
    owner_id bigint NOT NULL,
    tag text NOT NULL,
    bookmark_id bigint NOT NULL
);
CREATE TABLE forebay.catalogue (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT catalogue_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100)))
);
ALTER TABLE forebay.catalogue ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.catalogue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.category (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT category_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE forebay.category ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.category_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
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
CREATE TABLE forebay.file (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    sha256 bytea NOT NULL,
    name text NOT NULL,
    media_type text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT file_name_check CHECK (((length(name) >= 1) AND (length(name) <= 255)))
);
ALTER TABLE forebay.file ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME forebay.file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.idempotency (
    owner_id bigint NOT NULL,
    key text NOT NULL,
    request bytea NOT NULL,
    status smallint NOT NULL,
    answer jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE TABLE forebay.invitation (
    hash bytea NOT NULL,
    account_id bigint,
    role forebay.account_role DEFAULT 'user'::forebay.account_role NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    id bigint NOT NULL
);
ALTER TABLE forebay.invitation ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.invitation_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
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
        CASE
            WHEN ((j.state = 'RUNNING'::forebay.job_state) AND ((e.ended >= 1) AND (e.ended <= (j.total - 1))) AND j.sealed) THEN (clock_timestamp() + (((clock_timestamp() - COALESCE(j.started_at, j.created_at)) * ((j.total - e.ended))::double precision) / (e.ended)::double precision))
            ELSE NULL::timestamp with time zone
        END AS eta,
    j.sealed,
    j.meta,
    j.created_at,
    j.started_at,
    j.finished_at,
    j.updated_at
   FROM (((forebay.job j
     CROSS JOIN LATERAL ( SELECT (((j.done + j.skipped) + j.not_found) + j.error) AS ended) e)
     JOIN forebay.pipeline p ON ((p.id = j.pipeline_id)))
     JOIN forebay.owner o ON ((o.id = j.owner_id)));
CREATE TABLE forebay.lane (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    job_id bigint DEFAULT 0 NOT NULL,
    priority smallint DEFAULT 0 NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    busy_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
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
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE forebay.owner ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.owner_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE forebay.pipeline ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.pipeline_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.product (
    id bigint NOT NULL,
    catalogue_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    key text NOT NULL,
    gtin text,
    sku text,
    mpn text,
    text text NOT NULL,
    search tsvector NOT NULL,
    fields jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    job_id bigint DEFAULT 0 NOT NULL,
    n integer DEFAULT 0 NOT NULL,
    CONSTRAINT product_key_check CHECK ((length(key) <= 200))
);
ALTER TABLE forebay.product ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.product_id_seq
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
CREATE VIEW forebay.queue_depth WITH (security_invoker='true') AS
 SELECT p.name AS pipeline,
    s.name AS step,
    s.queue,
    COALESCE(r.ready, (0)::bigint) AS ready,
    COALESCE(t.scheduled, (0)::bigint) AS scheduled,
    COALESCE(e.leased, (0)::bigint) AS leased,
    (COALESCE(r.on_hold, (0)::bigint) + COALESCE(t.on_hold, (0)::bigint)) AS on_hold,
    t.next_at,
    q.paused,
    q.parked,
    q.probe_at
   FROM (((((forebay.step s
     JOIN forebay.pipeline p ON ((p.id = s.pipeline_id)))
     JOIN forebay.queue q ON ((q.name = s.queue)))
     LEFT JOIN ( SELECT g.step_id,
            (sum(g.tasks) FILTER (WHERE (l.paused IS NOT TRUE)))::bigint AS ready,
            (sum(g.tasks) FILTER (WHERE l.paused))::bigint AS on_hold
           FROM (( SELECT r_1.step_id,
                    r_1.lane_id,
                    sum(((r_1.last_n - r_1.first_n) + 1)) AS tasks
                   FROM forebay.ready r_1
                  GROUP BY r_1.step_id, r_1.lane_id) g
             LEFT JOIN forebay.lane l ON ((l.id = g.lane_id)))
          GROUP BY g.step_id) r ON ((r.step_id = s.id)))
     LEFT JOIN ( SELECT scheduled.step_id,
            sum(((scheduled.last_n - scheduled.first_n) + 1)) FILTER (WHERE (scheduled.run_at < 'infinity'::timestamp with time zone)) AS scheduled,
            sum(((scheduled.last_n - scheduled.first_n) + 1)) FILTER (WHERE (scheduled.run_at = 'infinity'::timestamp with time zone)) AS on_hold,
            min(scheduled.run_at) FILTER (WHERE (scheduled.run_at < 'infinity'::timestamp with time zone)) AS next_at
           FROM forebay.scheduled
          GROUP BY scheduled.step_id) t ON ((t.step_id = s.id)))
     LEFT JOIN ( SELECT l.step_id,
            sum((upper(r_1.r) - lower(r_1.r))) AS leased
           FROM (forebay.lease l
             CROSS JOIN LATERAL unnest(l.ns) r_1(r))
          GROUP BY l.step_id) e ON ((e.step_id = s.id)))
  WHERE (s.active OR (r.step_id IS NOT NULL) OR (t.step_id IS NOT NULL) OR (e.step_id IS NOT NULL));
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
    last_job_id bigint
);
CREATE TABLE forebay.session (
    hash bytea NOT NULL,
    account_id bigint NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ip inet,
    agent text,
    id bigint NOT NULL
);
ALTER TABLE forebay.session ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.session_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.sheet (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    intake_job_id bigint,
    name text NOT NULL,
    source text,
    path text,
    version text,
    size bigint,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    file_id bigint,
    kind text,
    layout jsonb,
    columns text[],
    mapping jsonb,
    suggestions jsonb,
    providers text[],
    turn integer DEFAULT 0 NOT NULL,
    problem text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    received_at timestamp with time zone,
    read_at timestamp with time zone,
    CONSTRAINT sheet_name_check CHECK (((length(name) >= 1) AND (length(name) <= 500))),
    CONSTRAINT sheet_size_check CHECK ((size >= 0))
);
CREATE TABLE forebay.sheet_export (
    job_id bigint NOT NULL,
    sheet_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    format text NOT NULL,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    file_id bigint,
    rows bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    written_at timestamp with time zone,
    CONSTRAINT sheet_export_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'xlsx'::text, 'jsonl'::text])))
);
CREATE TABLE forebay.sheet_file (
    file_id bigint NOT NULL,
    sheet_id bigint NOT NULL,
    owner_id bigint NOT NULL
);
ALTER TABLE forebay.sheet ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.sheet_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.sheet_piece (
    sheet_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    start bigint NOT NULL,
    name uuid DEFAULT gen_random_uuid() NOT NULL,
    size bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT sheet_piece_size_check CHECK ((size > 0)),
    CONSTRAINT sheet_piece_start_check CHECK ((start >= 0))
);
CREATE TABLE forebay.sheet_taken (
    source text NOT NULL,
    path bytea NOT NULL,
    version bytea NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE forebay.sign_in_failure (
    key text NOT NULL,
    failures integer NOT NULL,
    blocked_until timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
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
CREATE TABLE forebay.waste (
    sha256 bytea NOT NULL,
    life bigint NOT NULL,
    size bigint NOT NULL,
    at timestamp with time zone NOT NULL
);
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
ALTER TABLE ONLY forebay.account
    ADD CONSTRAINT account_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.account
    ADD CONSTRAINT account_owner_id_key UNIQUE (owner_id);
ALTER TABLE ONLY forebay.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.api_token
    ADD CONSTRAINT api_token_hash_key UNIQUE (hash);
ALTER TABLE ONLY forebay.api_token
    ADD CONSTRAINT api_token_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.blob
    ADD CONSTRAINT blob_pkey PRIMARY KEY (sha256);
ALTER TABLE ONLY forebay.bookmark_change
    ADD CONSTRAINT bookmark_change_pkey PRIMARY KEY (bookmark_id, at);
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_owner_id_page_hash_key UNIQUE (owner_id, page_hash);
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.catalogue
    ADD CONSTRAINT catalogue_owner_id_name_key UNIQUE (owner_id, name);
ALTER TABLE ONLY forebay.catalogue
    ADD CONSTRAINT catalogue_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.category
    ADD CONSTRAINT category_owner_id_name_key UNIQUE (owner_id, name);
ALTER TABLE ONLY forebay.category
    ADD CONSTRAINT category_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.dead_letter
    ADD CONSTRAINT dead_letter_pkey PRIMARY KEY (job_id, n, step_id);
ALTER TABLE ONLY forebay.file
    ADD CONSTRAINT file_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (owner_id, key);
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_id_key UNIQUE (id);
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY forebay.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (job_id, n);
ALTER TABLE ONLY forebay.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.lane
    ADD CONSTRAINT lane_owner_id_job_id_priority_key UNIQUE (owner_id, job_id, priority);
ALTER TABLE ONLY forebay.lane
    ADD CONSTRAINT lane_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (token);
ALTER TABLE ONLY forebay.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);
ALTER TABLE ONLY forebay.owner
    ADD CONSTRAINT owner_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.owner
    ADD CONSTRAINT owner_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.pipeline
    ADD CONSTRAINT pipeline_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.pipeline
    ADD CONSTRAINT pipeline_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_catalogue_id_key_key UNIQUE (catalogue_id, key);
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_pkey PRIMARY KEY (id);
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
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_id_key UNIQUE (id);
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY forebay.sheet_export
    ADD CONSTRAINT sheet_export_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY forebay.sheet_file
    ADD CONSTRAINT sheet_file_pkey PRIMARY KEY (file_id);
ALTER TABLE ONLY forebay.sheet
    ADD CONSTRAINT sheet_job_id_key UNIQUE (job_id);
ALTER TABLE ONLY forebay.sheet_piece
    ADD CONSTRAINT sheet_piece_pkey PRIMARY KEY (sheet_id, start, name);
ALTER TABLE ONLY forebay.sheet
    ADD CONSTRAINT sheet_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.sheet_taken
    ADD CONSTRAINT sheet_taken_pkey PRIMARY KEY (source, path, version);
ALTER TABLE ONLY forebay.sign_in_failure
    ADD CONSTRAINT sign_in_failure_pkey PRIMARY KEY (key);
ALTER TABLE ONLY forebay.slot_lease
    ADD CONSTRAINT slot_lease_pkey PRIMARY KEY (name, key, worker_id);
ALTER TABLE ONLY forebay.slot_limit
    ADD CONSTRAINT slot_limit_pkey PRIMARY KEY (name, key);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pipeline_id_bit_key UNIQUE (pipeline_id, "bit");
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pipeline_id_name_key UNIQUE (pipeline_id, name);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.waste
    ADD CONSTRAINT waste_pkey PRIMARY KEY (sha256, life);
ALTER TABLE ONLY forebay.worker
    ADD CONSTRAINT worker_pkey PRIMARY KEY (id);
CREATE INDEX api_token_account ON forebay.api_token USING btree (account_id);
CREATE INDEX attempt_ended ON ONLY forebay.attempt USING brin (ended_at) WITH (autosummarize='on');
CREATE INDEX attempt_default_ended_at_idx ON forebay.attempt_default USING brin (ended_at) WITH (autosummarize='on');
CREATE INDEX attempt_task ON ONLY forebay.attempt USING btree (job_id, n);
CREATE INDEX attempt_default_job_id_n_idx ON forebay.attempt_default USING btree (job_id, n);
CREATE INDEX audit_job ON forebay.audit USING btree (job_id, id);
CREATE INDEX audit_owner ON forebay.audit USING btree (owner_id, id);
CREATE INDEX blob_touched ON forebay.blob USING btree (touched_at) WHERE (touched_at IS NOT NULL);
CREATE INDEX bookmark_canonical ON forebay.bookmark USING btree (owner_id, canonical_hash) WHERE (canonical_hash IS NOT NULL);
CREATE INDEX bookmark_category ON forebay.bookmark USING btree (category_id, id) WHERE (category_id IS NOT NULL);
CREATE INDEX bookmark_category_shown ON forebay.bookmark USING btree (owner_id, category_id) WHERE ((archived_at IS NULL) AND (category_id IS NOT NULL));
CREATE INDEX bookmark_due ON forebay.bookmark USING btree (next_crawl_at) WHERE ((next_crawl_at IS NOT NULL) AND (archived_at IS NULL));
CREATE INDEX bookmark_duplicates ON forebay.bookmark USING btree (duplicate_of) WHERE (duplicate_of IS NOT NULL);
CREATE INDEX bookmark_export ON forebay.bookmark USING btree (owner_id, COALESCE(category_id, (0)::bigint), id);
CREATE INDEX bookmark_kind ON forebay.bookmark USING btree (owner_id, kind, id);
CREATE INDEX bookmark_newest ON forebay.bookmark USING btree (owner_id, id) WHERE (archived_at IS NULL);
CREATE INDEX bookmark_owner ON forebay.bookmark USING btree (owner_id, id);
CREATE INDEX bookmark_search ON forebay.bookmark USING gin (search);
CREATE INDEX bookmark_tag_of ON forebay.bookmark_tag USING btree (bookmark_id);
CREATE INDEX bookmark_tag_used ON forebay.bookmark_tag USING btree (owner_id, tag);
CREATE INDEX bookmark_tags ON forebay.bookmark USING gin (tags);
CREATE INDEX catalogue_shared ON forebay.catalogue USING btree (id) WHERE shared;
CREATE INDEX dead_letter_owner ON forebay.dead_letter USING btree (owner_id, at, job_id, n);
CREATE INDEX dead_letter_recent ON forebay.dead_letter USING btree (at, job_id, n);
CREATE INDEX file_blob ON forebay.file USING btree (sha256);
CREATE INDEX file_owner ON forebay.file USING btree (owner_id, id);
CREATE INDEX idempotency_age ON forebay.idempotency USING brin (created_at);
CREATE INDEX item_failed ON forebay.item USING btree (job_id, n) WHERE (status = ANY (ARRAY['SKIPPED'::forebay.item_status, 'NOT_FOUND'::forebay.item_status, 'ERROR'::forebay.item_status]));
CREATE UNIQUE INDEX item_key ON forebay.item USING btree (job_id, key) WHERE (key IS NOT NULL);
CREATE INDEX job_cancelling ON forebay.job USING btree (id) WHERE ((state = 'CANCELLED'::forebay.job_state) AND (finished_at IS NULL));
CREATE INDEX job_changed ON forebay.job USING btree (owner_id, updated_at) WHERE (finished_at IS NULL);
CREATE INDEX job_coalescing ON forebay.job USING btree (pipeline_id, owner_id, key) WHERE (coalesces AND (finished_at IS NULL));
CREATE INDEX job_finished ON forebay.job USING btree (finished_at) WHERE (finished_at IS NOT NULL);
CREATE UNIQUE INDEX job_key ON forebay.job USING btree (pipeline_id, owner_id, key) WHERE ((key IS NOT NULL) AND (NOT coalesces));
CREATE INDEX job_open ON forebay.job USING btree (owner_id, id) WHERE (finished_at IS NULL);
CREATE INDEX job_owner ON forebay.job USING btree (owner_id, id);
CREATE INDEX lane_job ON forebay.lane USING btree (job_id) WHERE (job_id <> 0);
CREATE INDEX lease_job ON forebay.lease USING btree (job_id);
CREATE INDEX product_gtin ON forebay.product USING btree (gtin) WHERE (gtin IS NOT NULL);
CREATE INDEX product_mpn ON forebay.product USING btree (mpn) WHERE (mpn IS NOT NULL);
CREATE INDEX product_search ON forebay.product USING gin (search) WITH (fastupdate=off);
CREATE INDEX product_sku ON forebay.product USING btree (sku) WHERE (sku IS NOT NULL);
CREATE INDEX product_text ON forebay.product USING gin (text public.gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX schedule_next ON forebay.schedule USING btree (next_at) WHERE (NOT paused);
CREATE INDEX scheduled_job ON forebay.scheduled USING btree (job_id);
CREATE INDEX session_account ON forebay.session USING btree (account_id);
CREATE INDEX sheet_export_sheet ON forebay.sheet_export USING btree (sheet_id, job_id);
CREATE INDEX sheet_file_sheet ON forebay.sheet_file USING btree (sheet_id);
CREATE INDEX sheet_owner ON forebay.sheet USING btree (owner_id, id);
CREATE INDEX sheet_piece_age ON forebay.sheet_piece USING btree (created_at);
CREATE UNIQUE INDEX sheet_piece_counted ON forebay.sheet_piece USING btree (sheet_id, start) WHERE (size IS NOT NULL);
CREATE INDEX sheet_taken_seen ON forebay.sheet_taken USING btree (seen_at);
CREATE INDEX sheet_uploading ON forebay.sheet USING btree (created_at) WHERE (intake_job_id IS NULL);
CREATE INDEX waste_age ON forebay.waste USING btree (at);
ALTER INDEX forebay.attempt_ended ATTACH PARTITION forebay.attempt_default_ended_at_idx;
ALTER INDEX forebay.attempt_task ATTACH PARTITION forebay.attempt_default_job_id_n_idx;
CREATE TRIGGER drop_files AFTER DELETE OR UPDATE OF screenshot_id, full_page_id, image_id, favicon_id ON forebay.bookmark FOR EACH ROW EXECUTE FUNCTION forebay.drop_bookmark_files();
CREATE TRIGGER keep_tags AFTER UPDATE OF tags, archived_at ON forebay.bookmark FOR EACH ROW EXECUTE FUNCTION forebay.keep_bookmark_tags();
CREATE TRIGGER keep_tags_of_new AFTER INSERT ON forebay.bookmark FOR EACH ROW WHEN ((new.tags <> '{}'::text[])) EXECUTE FUNCTION forebay.keep_bookmark_tags();
CREATE TRIGGER touch_blobs_of_deleted AFTER DELETE ON forebay.file REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forebay.touch_blobs_of_deleted();
ALTER TABLE ONLY forebay.account
    ADD CONSTRAINT account_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES forebay.owner(id);
ALTER TABLE ONLY forebay.api_token
    ADD CONSTRAINT api_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_category_id_fkey FOREIGN KEY (category_id) REFERENCES forebay.category(id) ON DELETE SET NULL;
ALTER TABLE ONLY forebay.bookmark_change
    ADD CONSTRAINT bookmark_change_bookmark_id_fkey FOREIGN KEY (bookmark_id) REFERENCES forebay.bookmark(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES forebay.bookmark(id) ON DELETE SET NULL;
ALTER TABLE ONLY forebay.bookmark_tag
    ADD CONSTRAINT bookmark_tag_bookmark_id_fkey FOREIGN KEY (bookmark_id) REFERENCES forebay.bookmark(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.file
    ADD CONSTRAINT file_sha256_fkey FOREIGN KEY (sha256) REFERENCES forebay.blob(sha256);
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_catalogue_id_fkey FOREIGN KEY (catalogue_id) REFERENCES forebay.catalogue(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.schedule
    ADD CONSTRAINT schedule_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES forebay.owner(id);
ALTER TABLE ONLY forebay.schedule
    ADD CONSTRAINT schedule_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES forebay.pipeline(id);
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.sheet_export
    ADD CONSTRAINT sheet_export_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES forebay.sheet(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.sheet_file
    ADD CONSTRAINT sheet_file_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES forebay.sheet(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.sheet_piece
    ADD CONSTRAINT sheet_piece_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES forebay.sheet(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_pipeline_id_fkey FOREIGN KEY (pipeline_id) REFERENCES forebay.pipeline(id);
ALTER TABLE ONLY forebay.step
    ADD CONSTRAINT step_queue_fkey FOREIGN KEY (queue) REFERENCES forebay.queue(name);
ALTER TABLE forebay.attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark_tag ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.catalogue ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.category ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.file ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.idempotency ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.item ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.lane ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.lease ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.attempt TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.audit TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.blob TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark_change TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark_tag TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.catalogue TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.category TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.dead_letter TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.file TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.idempotency TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.item TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.job TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.lane TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.lease TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.owner TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.product TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.ready TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.schedule TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.scheduled TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_export TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_file TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_piece TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.tally TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_files ON forebay.blob FOR SELECT TO forebay_api USING ((EXISTS ( SELECT
   FROM forebay.file f
  WHERE (f.sha256 = blob.sha256))));
CREATE POLICY of_identity ON forebay.audit FOR INSERT TO forebay_identity WITH CHECK (true);
CREATE POLICY of_identity ON forebay.owner TO forebay_identity USING (true);
CREATE POLICY of_own_job ON forebay.sheet AS RESTRICTIVE TO forebay_api USING (true) WITH CHECK ((EXISTS ( SELECT
   FROM forebay.job j
  WHERE (j.id = sheet.job_id))));
CREATE POLICY of_owner ON forebay.attempt TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.audit TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark_change TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark_tag TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.catalogue TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.category TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.dead_letter TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.file TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.idempotency TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.item TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.job TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.lane TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.lease TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.owner TO forebay_api USING ((id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.product TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.ready TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.schedule TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.scheduled TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_export TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_file TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_piece TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.tally TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_shared ON forebay.catalogue FOR SELECT TO forebay_api USING (shared);
CREATE POLICY of_shared ON forebay.product FOR SELECT TO forebay_api USING ((EXISTS ( SELECT
   FROM forebay.catalogue c
  WHERE ((c.id = product.catalogue_id) AND c.shared))));
ALTER TABLE forebay.owner ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.product ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.ready ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.schedule ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.scheduled ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_export ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_piece ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.tally ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA forebay TO forebay_api;
GRANT USAGE ON SCHEMA forebay TO forebay_admin;
GRANT USAGE ON SCHEMA forebay TO forebay_identity;
GRANT USAGE ON SCHEMA forebay TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_worker;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_admin;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.item TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.item TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.item TO forebay_worker;
GRANT SELECT ON TABLE forebay.queue TO forebay_api;
GRANT SELECT,UPDATE ON TABLE forebay.queue TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.queue TO forebay_worker;
GRANT SELECT ON TABLE forebay.step TO forebay_api;
GRANT SELECT ON TABLE forebay.step TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.step TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.account TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.account_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.account_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.account_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.account_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.api_token TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.api_token_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.api_token_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.api_token_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.api_token_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.attempt_default TO forebay_admin;
GRANT SELECT ON TABLE forebay.owner TO forebay_api;
GRANT SELECT,INSERT,UPDATE ON TABLE forebay.owner TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.owner TO forebay_worker;
GRANT SELECT,INSERT ON TABLE forebay.owner TO forebay_identity;
GRANT SELECT ON TABLE forebay.pipeline TO forebay_api;
GRANT SELECT ON TABLE forebay.pipeline TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.pipeline TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.worker TO forebay_worker;
GRANT SELECT ON TABLE forebay.worker TO forebay_admin;
GRANT SELECT(id) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(name) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(started_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(seen_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stopped_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stale) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stats) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT ON TABLE forebay.attempts TO forebay_admin;
GRANT SELECT,INSERT ON TABLE forebay.audit TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.audit TO forebay_admin;
GRANT SELECT,INSERT,DELETE ON TABLE forebay.audit TO forebay_worker;
GRANT INSERT ON TABLE forebay.audit TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.blob TO forebay_api;
GRANT SELECT ON TABLE forebay.blob TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.blob TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.blob_life_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.blob_life_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.blob_life_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.blob_life_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_change TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_change TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_change TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.bookmark_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.bookmark_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.bookmark_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.bookmark_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.catalogue TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.catalogue TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.catalogue TO forebay_worker;
GRANT UPDATE(shared) ON TABLE forebay.catalogue TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.dead_letters TO forebay_admin;
GRANT SELECT,DELETE ON TABLE forebay.file TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.file TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.file TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.file_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.file_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.file_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.file_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_worker;
GRANT DELETE ON TABLE forebay.invitation TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.invitation TO forebay_identity;
GRANT SELECT(expires_at) ON TABLE forebay.invitation TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_worker;
GRANT SELECT ON TABLE forebay.items TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.jobs TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lane TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lane TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lane TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.lane_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.lane_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.lane_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.lane_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.last_hour TO forebay_admin;
GRANT SELECT ON TABLE forebay.migration TO forebay_api;
GRANT SELECT ON TABLE forebay.migration TO forebay_admin;
GRANT SELECT ON TABLE forebay.migration TO forebay_identity;
GRANT SELECT ON TABLE forebay.migration TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.product TO forebay_api;
GRANT SELECT ON TABLE forebay.product TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.product TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ready TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ready TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ready TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.scheduled TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.scheduled TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.scheduled TO forebay_worker;
GRANT SELECT ON TABLE forebay.queue_depth TO forebay_api;
GRANT SELECT ON TABLE forebay.queue_depth TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.rate_limit TO forebay_worker;
GRANT SELECT ON TABLE forebay.rate_limit TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_worker;
GRANT DELETE ON TABLE forebay.session TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.session TO forebay_identity;
GRANT SELECT(expires_at) ON TABLE forebay.session TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.sheet TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.sheet TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet TO forebay_worker;
GRANT INSERT(owner_id) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(job_id) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(job_id) ON TABLE forebay.sheet TO forebay_admin;
GRANT UPDATE(intake_job_id) ON TABLE forebay.sheet TO forebay_api;
GRANT UPDATE(intake_job_id) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(name) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(name) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(source) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(source) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(path) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(path) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(version) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(version) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(size) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(size) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(options) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(options) ON TABLE forebay.sheet TO forebay_admin;
GRANT UPDATE(mapping) ON TABLE forebay.sheet TO forebay_api;
GRANT UPDATE(mapping) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(providers),UPDATE(providers) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(providers),UPDATE(providers) ON TABLE forebay.sheet TO forebay_admin;
GRANT UPDATE(turn) ON TABLE forebay.sheet TO forebay_api;
GRANT UPDATE(turn) ON TABLE forebay.sheet TO forebay_admin;
GRANT UPDATE(problem) ON TABLE forebay.sheet TO forebay_api;
GRANT UPDATE(problem) ON TABLE forebay.sheet TO forebay_admin;
GRANT SELECT,DELETE ON TABLE forebay.sheet_export TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.sheet_export TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_export TO forebay_worker;
GRANT INSERT(job_id) ON TABLE forebay.sheet_export TO forebay_api;
GRANT INSERT(job_id) ON TABLE forebay.sheet_export TO forebay_admin;
GRANT INSERT(sheet_id) ON TABLE forebay.sheet_export TO forebay_api;
GRANT INSERT(sheet_id) ON TABLE forebay.sheet_export TO forebay_admin;
GRANT INSERT(owner_id) ON TABLE forebay.sheet_export TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.sheet_export TO forebay_admin;
GRANT INSERT(format) ON TABLE forebay.sheet_export TO forebay_api;
GRANT INSERT(format) ON TABLE forebay.sheet_export TO forebay_admin;
GRANT INSERT(options) ON TABLE forebay.sheet_export TO forebay_api;
GRANT INSERT(options) ON TABLE forebay.sheet_export TO forebay_admin;
GRANT SELECT,DELETE ON TABLE forebay.sheet_file TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.sheet_file TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_file TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.sheet_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.sheet_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.sheet_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.sheet_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_piece TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_piece TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_piece TO forebay_worker;
GRANT SELECT,INSERT,UPDATE ON TABLE forebay.sheet_taken TO forebay_api;
GRANT SELECT,INSERT,UPDATE ON TABLE forebay.sheet_taken TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_taken TO forebay_worker;
GRANT DELETE ON TABLE forebay.sign_in_failure TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sign_in_failure TO forebay_identity;
GRANT SELECT(last_at) ON TABLE forebay.sign_in_failure TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.slot_lease TO forebay_worker;
GRANT SELECT ON TABLE forebay.slot_lease TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.slot_limit TO forebay_worker;
GRANT SELECT ON TABLE forebay.slot_limit TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.step_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.step_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.step_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.step_id_seq TO forebay_worker;
GRANT SELECT,INSERT ON TABLE forebay.tally TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.tally TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.tally TO forebay_worker;
GRANT SELECT ON TABLE forebay.totals TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.waste TO forebay_worker;
GRANT SELECT ON TABLE forebay.waste TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.workers TO forebay_api;
GRANT SELECT ON TABLE forebay.workers TO forebay_admin;
