-- What the migrations of identity add to the parts before; by scripts/schema_dump.py.
CREATE TYPE forebay.account_role AS ENUM (
    'user',
    'admin'
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
CREATE TABLE forebay.sign_in_failure (
    key text NOT NULL,
    failures integer NOT NULL,
    blocked_until timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL
);
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
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_id_key UNIQUE (id);
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_id_key UNIQUE (id);
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY forebay.sign_in_failure
    ADD CONSTRAINT sign_in_failure_pkey PRIMARY KEY (key);
CREATE INDEX api_token_account ON forebay.api_token USING btree (account_id);
CREATE INDEX session_account ON forebay.session USING btree (account_id);
ALTER TABLE ONLY forebay.account
    ADD CONSTRAINT account_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES forebay.owner(id);
ALTER TABLE ONLY forebay.api_token
    ADD CONSTRAINT api_token_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.invitation
    ADD CONSTRAINT invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.session
    ADD CONSTRAINT session_account_id_fkey FOREIGN KEY (account_id) REFERENCES forebay.account(id) ON DELETE CASCADE;
ALTER TABLE forebay.account ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.child_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.deleted_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.item ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.job ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.kept_signal ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.lane ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.lease ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.attempt TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.audit TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.child_change TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.dead_letter TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.deleted_jobs TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.item TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.job TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.kept_signal TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.lane TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.lease TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.ordered_task TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.owner TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.owner_sample TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.ready TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.schedule TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.scheduled TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.tally TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.throttled_task TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.waiting TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_identity ON forebay.account TO forebay_identity USING (true);
CREATE POLICY of_identity ON forebay.audit FOR INSERT TO forebay_identity WITH CHECK (true);
CREATE POLICY of_identity ON forebay.owner TO forebay_identity USING (true);
CREATE POLICY of_owner ON forebay.attempt TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.audit TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.child_change TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.dead_letter TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.deleted_jobs TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.item TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.job TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.kept_signal TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.lane TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.lease TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.ordered_task TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.owner TO forebay_api USING ((id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.owner_sample TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.ready TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.schedule TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.scheduled TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.tally TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.throttled_task TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.waiting TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
ALTER TABLE forebay.ordered_task ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.owner ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.owner_sample ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.ready ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.schedule ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.scheduled ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.tally ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.throttled_task ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.waiting ENABLE ROW LEVEL SECURITY;
GRANT USAGE ON SCHEMA forebay TO forebay_api;
GRANT USAGE ON SCHEMA forebay TO forebay_admin;
GRANT USAGE ON SCHEMA forebay TO forebay_identity;
GRANT USAGE ON SCHEMA forebay TO forebay_worker;
GRANT SELECT ON TABLE forebay.pipeline TO forebay_api;
GRANT SELECT ON TABLE forebay.pipeline TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.pipeline TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ordered_task TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ordered_task TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.ordered_task TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.job TO forebay_worker;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_admin;
GRANT SELECT,INSERT ON TABLE forebay.attempt TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.dead_letter TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.waiting TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.waiting TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.waiting TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.token TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.lease TO forebay_worker;
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
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.worker TO forebay_worker;
GRANT SELECT ON TABLE forebay.worker TO forebay_admin;
GRANT SELECT(id) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(name) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(started_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(seen_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stopped_at) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stale) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(stats) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT(steps) ON TABLE forebay.worker TO forebay_api;
GRANT SELECT ON TABLE forebay.attempts TO forebay_admin;
GRANT SELECT,INSERT ON TABLE forebay.audit TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.audit TO forebay_admin;
GRANT SELECT,INSERT,DELETE ON TABLE forebay.audit TO forebay_worker;
GRANT INSERT ON TABLE forebay.audit TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.audit_id_seq TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.busy_lane TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.busy_lane TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.busy_lane TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.child_change TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.child_change TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.child_change TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.controller_sample TO forebay_worker;
GRANT SELECT ON TABLE forebay.controller_sample TO forebay_admin;
GRANT SELECT ON TABLE forebay.dead_letters TO forebay_admin;
GRANT SELECT ON TABLE forebay.deleted_jobs TO forebay_api;
GRANT SELECT ON TABLE forebay.deleted_jobs TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.deleted_jobs TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.invitation TO forebay_identity;
GRANT DELETE ON TABLE forebay.invitation TO forebay_worker;
GRANT SELECT(expires_at) ON TABLE forebay.invitation TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.invitation_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.items TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.job_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.jobs TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.kept_signal TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.kept_signal TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.kept_signal TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.kept_signal_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.kept_signal_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.kept_signal_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.kept_signal_id_seq TO forebay_worker;
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
GRANT SELECT ON TABLE forebay.ordered_tasks TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.owner_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.owner_sample TO forebay_api;
GRANT SELECT ON TABLE forebay.owner_sample TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.owner_sample TO forebay_worker;
GRANT SELECT ON TABLE forebay.part TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.pipeline_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.pipeline_version TO forebay_api;
GRANT SELECT ON TABLE forebay.pipeline_version TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.pipeline_version TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.pipeline_version_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.pipeline_version_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.pipeline_version_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.pipeline_version_id_seq TO forebay_worker;
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
GRANT SELECT ON TABLE forebay.version_step TO forebay_api;
GRANT SELECT ON TABLE forebay.version_step TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.version_step TO forebay_worker;
GRANT SELECT ON TABLE forebay.queue_depth TO forebay_admin;
GRANT SELECT ON TABLE forebay.queue_depth TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.rate_limit TO forebay_worker;
GRANT SELECT ON TABLE forebay.rate_limit TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.schedule TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.session TO forebay_identity;
GRANT DELETE ON TABLE forebay.session TO forebay_worker;
GRANT SELECT(expires_at) ON TABLE forebay.session TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.session_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sign_in_failure TO forebay_identity;
GRANT DELETE ON TABLE forebay.sign_in_failure TO forebay_worker;
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
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.throttled_task TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.throttled_task TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.throttled_task TO forebay_worker;
GRANT SELECT ON TABLE forebay.totals TO forebay_admin;
GRANT SELECT ON TABLE forebay.waits TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.worker_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.workers TO forebay_admin;
GRANT SELECT ON TABLE forebay.workers TO forebay_api;
GRANT SELECT ON TABLE forebay.workers TO forebay_worker;
