-- What the migrations of api add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.idempotency (
    owner_id bigint NOT NULL,
    key text NOT NULL,
    request bytea NOT NULL,
    status smallint NOT NULL,
    answer jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT idempotency_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255)))
);
CREATE TABLE forebay.preferences (
    owner_id bigint NOT NULL,
    value json NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT preferences_value_check CHECK ((octet_length((value)::text) <= 16384))
);
CREATE TABLE forebay.webhook_delivery (
    owner_id bigint NOT NULL,
    source text NOT NULL,
    key text NOT NULL,
    received_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    kept_until timestamp with time zone DEFAULT 'infinity'::timestamp with time zone NOT NULL,
    CONSTRAINT webhook_delivery_key_check CHECK (((length(key) >= 1) AND (length(key) <= 255))),
    CONSTRAINT webhook_delivery_source_check CHECK (((length(source) >= 1) AND (length(source) <= 100)))
);
ALTER TABLE ONLY forebay.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (owner_id, key);
ALTER TABLE ONLY forebay.preferences
    ADD CONSTRAINT preferences_pkey PRIMARY KEY (owner_id);
ALTER TABLE ONLY forebay.webhook_delivery
    ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (owner_id, source, key);
CREATE INDEX idempotency_age ON forebay.idempotency USING brin (created_at);
CREATE INDEX webhook_delivery_end ON forebay.webhook_delivery USING btree (kept_until) WHERE (kept_until < 'infinity'::timestamp with time zone);
ALTER TABLE forebay.idempotency ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.idempotency TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.preferences TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.webhook_delivery TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.idempotency TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.preferences TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.webhook_delivery TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
ALTER TABLE forebay.preferences ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.webhook_delivery ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.idempotency TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.preferences TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.preferences TO forebay_admin;
GRANT SELECT ON TABLE forebay.preferences TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.webhook_delivery TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.webhook_delivery TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.webhook_delivery TO forebay_worker;
