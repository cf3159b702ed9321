-- What the migrations of attachments add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.attachment (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    instance_id bigint CONSTRAINT attachment_instance_id_not_null1 NOT NULL,
    key text NOT NULL,
    name text NOT NULL,
    url text,
    expected_size bigint,
    expected_sha256 bytea,
    status text DEFAULT 'PENDING'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    error text,
    size bigint,
    sha256 bytea,
    media_type text,
    file_id bigint,
    job_id bigint,
    n integer,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    last_attempt_at timestamp with time zone,
    downloaded_at timestamp with time zone,
    removed_at timestamp with time zone,
    CONSTRAINT attachment_key_check CHECK (((length(key) >= 1) AND (length(key) <= 500))),
    CONSTRAINT attachment_name_check CHECK (((length(name) >= 1) AND (length(name) <= 500))),
    CONSTRAINT attachment_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DOWNLOADED'::text, 'FAILED'::text])))
);
CREATE TABLE forebay.attachment_delivery (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    source text NOT NULL,
    verdict text NOT NULL,
    reason text,
    key text,
    event text,
    bytes integer NOT NULL,
    ip inet,
    instance_id bigint,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT attachment_delivery_source_check CHECK (((length(source) >= 1) AND (length(source) <= 50))),
    CONSTRAINT attachment_delivery_verdict_check CHECK ((verdict = ANY (ARRAY['ACCEPTED'::text, 'DUPLICATE'::text, 'IGNORED'::text, 'CHALLENGE'::text, 'REJECTED'::text])))
);
ALTER TABLE forebay.attachment_delivery ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.attachment_delivery_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE forebay.attachment ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.attachment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.attachment_instance (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    source text NOT NULL,
    key text NOT NULL,
    title text,
    state text,
    facts jsonb DEFAULT '[]'::jsonb NOT NULL,
    skipped integer DEFAULT 0 NOT NULL,
    job_id bigint,
    voucher text DEFAULT 'WAITING'::text NOT NULL,
    voucher_id bigint,
    problem text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    seen_at timestamp with time zone,
    read_at timestamp with time zone,
    settled_at timestamp with time zone,
    alerted_at timestamp with time zone,
    CONSTRAINT attachment_instance_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT attachment_instance_source_check CHECK (((length(source) >= 1) AND (length(source) <= 50))),
    CONSTRAINT attachment_instance_voucher_check CHECK ((voucher = ANY (ARRAY['WAITING'::text, 'READY'::text, 'PARTIAL'::text, 'WITHHELD'::text, 'NONE'::text])))
);
ALTER TABLE forebay.attachment_instance ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.attachment_instance_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.attachment_quota (
    app text NOT NULL,
    hour timestamp with time zone NOT NULL,
    used integer NOT NULL
);
ALTER TABLE ONLY forebay.attachment_delivery
    ADD CONSTRAINT attachment_delivery_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.attachment
    ADD CONSTRAINT attachment_instance_id_key_key UNIQUE (instance_id, key);
ALTER TABLE ONLY forebay.attachment_instance
    ADD CONSTRAINT attachment_instance_owner_id_source_key_key UNIQUE (owner_id, source, key);
ALTER TABLE ONLY forebay.attachment_instance
    ADD CONSTRAINT attachment_instance_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.attachment
    ADD CONSTRAINT attachment_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.attachment_quota
    ADD CONSTRAINT attachment_quota_pkey PRIMARY KEY (app, hour);
CREATE INDEX attachment_age ON forebay.attachment USING btree (downloaded_at) WHERE (file_id IS NOT NULL);
CREATE INDEX attachment_delivery_age ON forebay.attachment_delivery USING btree (received_at);
CREATE INDEX attachment_delivery_instance ON forebay.attachment_delivery USING btree (instance_id);
CREATE INDEX attachment_delivery_owner ON forebay.attachment_delivery USING btree (owner_id, id);
CREATE INDEX attachment_delivery_rejected ON forebay.attachment_delivery USING btree (source, received_at) WHERE (verdict = ANY (ARRAY['REJECTED'::text, 'CHALLENGE'::text]));
CREATE INDEX attachment_error ON forebay.attachment USING btree (owner_id, last_attempt_at) WHERE (error IS NOT NULL);
CREATE INDEX attachment_instance_age ON forebay.attachment_instance USING btree (settled_at) WHERE (voucher_id IS NOT NULL);
CREATE INDEX attachment_instance_job ON forebay.attachment_instance USING btree (job_id);
CREATE INDEX attachment_instance_news ON forebay.attachment_instance USING btree (received_at) WHERE (received_at > seen_at);
CREATE INDEX attachment_instance_owner ON forebay.attachment_instance USING btree (owner_id, id);
CREATE INDEX attachment_kept ON forebay.attachment USING btree (owner_id, downloaded_at, id) WHERE (file_id IS NOT NULL);
CREATE INDEX attachment_state ON forebay.attachment USING btree (owner_id, status, id);
CREATE INDEX attachment_tried ON forebay.attachment USING btree (owner_id, last_attempt_at);
CREATE TRIGGER drop_files AFTER DELETE OR UPDATE OF file_id ON forebay.attachment FOR EACH ROW EXECUTE FUNCTION forebay.drop_attachment_files();
CREATE TRIGGER drop_voucher AFTER DELETE OR UPDATE OF voucher_id ON forebay.attachment_instance FOR EACH ROW EXECUTE FUNCTION forebay.drop_attachment_files();
ALTER TABLE ONLY forebay.attachment_delivery
    ADD CONSTRAINT attachment_delivery_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES forebay.attachment_instance(id) ON DELETE SET NULL;
ALTER TABLE ONLY forebay.attachment
    ADD CONSTRAINT attachment_instance_id_fkey FOREIGN KEY (instance_id) REFERENCES forebay.attachment_instance(id) ON DELETE CASCADE;
ALTER TABLE forebay.attachment ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.attachment_delivery ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.attachment_instance ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.attachment TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.attachment_delivery TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.attachment_instance TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.attachment TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.attachment_delivery TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.attachment_instance TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
GRANT SELECT,DELETE ON TABLE forebay.attachment TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.attachment TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.attachment TO forebay_worker;
GRANT INSERT(owner_id) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(instance_id) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(instance_id) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(key) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(key) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(name) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(name) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(url),UPDATE(url) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(url),UPDATE(url) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(expected_size) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(expected_size) ON TABLE forebay.attachment TO forebay_admin;
GRANT INSERT(expected_sha256) ON TABLE forebay.attachment TO forebay_api;
GRANT INSERT(expected_sha256) ON TABLE forebay.attachment TO forebay_admin;
GRANT UPDATE(status) ON TABLE forebay.attachment TO forebay_api;
GRANT UPDATE(status) ON TABLE forebay.attachment TO forebay_admin;
GRANT UPDATE(error) ON TABLE forebay.attachment TO forebay_api;
GRANT UPDATE(error) ON TABLE forebay.attachment TO forebay_admin;
GRANT SELECT,INSERT ON TABLE forebay.attachment_delivery TO forebay_api;
GRANT SELECT,INSERT ON TABLE forebay.attachment_delivery TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.attachment_delivery TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.attachment_delivery_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.attachment_delivery_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.attachment_delivery_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.attachment_delivery_id_seq TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.attachment_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.attachment_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.attachment_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.attachment_id_seq TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.attachment_instance TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.attachment_instance TO forebay_worker;
GRANT INSERT(owner_id) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT INSERT(source) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(source) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT INSERT(key) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(key) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT INSERT(title),UPDATE(title) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(title),UPDATE(title) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT INSERT(state),UPDATE(state) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(state),UPDATE(state) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT INSERT(facts),UPDATE(facts) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT INSERT(facts),UPDATE(facts) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT UPDATE(job_id) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT UPDATE(job_id) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT UPDATE(voucher) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT UPDATE(voucher) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT UPDATE(received_at) ON TABLE forebay.attachment_instance TO forebay_api;
GRANT UPDATE(received_at) ON TABLE forebay.attachment_instance TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.attachment_instance_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.attachment_instance_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.attachment_instance_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.attachment_instance_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.attachment_quota TO forebay_api;
GRANT SELECT ON TABLE forebay.attachment_quota TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.attachment_quota TO forebay_worker;
