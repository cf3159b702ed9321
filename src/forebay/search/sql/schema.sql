-- What the migrations of search add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.saved_search (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL,
    question jsonb NOT NULL,
    token_hash bytea,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT saved_search_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200)))
);
ALTER TABLE forebay.saved_search ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.saved_search_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.search_backfill (
    kind text NOT NULL,
    "position" text,
    added bigint DEFAULT 0 NOT NULL,
    finished_at timestamp with time zone
);
CREATE TABLE forebay.search_chunk (
    model_id integer NOT NULL,
    document_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    hash bytea NOT NULL,
    starts integer NOT NULL,
    stops integer NOT NULL,
    second real,
    embedding public.halfvec NOT NULL
)
PARTITION BY LIST (model_id);
CREATE TABLE forebay.search_document (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    kind text NOT NULL,
    ref text NOT NULL,
    title text NOT NULL,
    body text NOT NULL,
    url text,
    language text,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    written_at timestamp with time zone NOT NULL,
    marks jsonb,
    details jsonb,
    content_hash bytea NOT NULL,
    version bigint DEFAULT 1 NOT NULL,
    source_version bigint,
    embeds boolean DEFAULT true NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    search tsvector GENERATED ALWAYS AS (forebay.document_words(language, title, tags, body)) STORED,
    CONSTRAINT search_document_kind_check CHECK (((length(kind) >= 1) AND (length(kind) <= 50))),
    CONSTRAINT search_document_ref_check CHECK (((length(ref) >= 1) AND (length(ref) <= 200)))
);
ALTER TABLE forebay.search_document ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.search_document_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.search_indexed (
    document_id bigint NOT NULL,
    model_id integer NOT NULL,
    owner_id bigint NOT NULL,
    version bigint NOT NULL,
    indexed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE TABLE forebay.search_model (
    id integer NOT NULL,
    name text NOT NULL,
    dimensions integer NOT NULL,
    state text NOT NULL,
    job_id bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    activated_at timestamp with time zone,
    CONSTRAINT search_model_state_check CHECK ((state = ANY (ARRAY['building'::text, 'active'::text, 'old'::text])))
);
ALTER TABLE forebay.search_model ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.search_model_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.search_word (
    owner_id bigint NOT NULL,
    word text NOT NULL
);
ALTER TABLE ONLY forebay.saved_search
    ADD CONSTRAINT saved_search_owner_id_name_key UNIQUE (owner_id, name);
ALTER TABLE ONLY forebay.saved_search
    ADD CONSTRAINT saved_search_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.saved_search
    ADD CONSTRAINT saved_search_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY forebay.search_backfill
    ADD CONSTRAINT search_backfill_pkey PRIMARY KEY (kind);
ALTER TABLE ONLY forebay.search_document
    ADD CONSTRAINT search_document_owner_id_kind_ref_key UNIQUE (owner_id, kind, ref);
ALTER TABLE ONLY forebay.search_document
    ADD CONSTRAINT search_document_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.search_indexed
    ADD CONSTRAINT search_indexed_pkey PRIMARY KEY (document_id, model_id);
ALTER TABLE ONLY forebay.search_model
    ADD CONSTRAINT search_model_name_key UNIQUE (name);
ALTER TABLE ONLY forebay.search_model
    ADD CONSTRAINT search_model_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.search_word
    ADD CONSTRAINT search_word_pkey PRIMARY KEY (owner_id, word);
CREATE UNIQUE INDEX search_chunk_of ON ONLY forebay.search_chunk USING btree (document_id, model_id, hash);
CREATE INDEX search_chunk_owner ON ONLY forebay.search_chunk USING btree (owner_id, document_id);
CREATE INDEX search_document_newest ON forebay.search_document USING btree (owner_id, written_at DESC, id DESC);
CREATE INDEX search_document_owner ON forebay.search_document USING btree (owner_id, id);
CREATE INDEX search_document_words ON forebay.search_document USING gin (search);
CREATE INDEX search_indexed_model ON forebay.search_indexed USING btree (model_id);
CREATE UNIQUE INDEX search_model_active ON forebay.search_model USING btree (state) WHERE (state = 'active'::text);
CREATE UNIQUE INDEX search_model_building ON forebay.search_model USING btree (state) WHERE (state = 'building'::text);
CREATE INDEX search_word_similar ON forebay.search_word USING gin (word public.gin_trgm_ops);
ALTER TABLE forebay.search_chunk
    ADD CONSTRAINT search_chunk_document_id_fkey FOREIGN KEY (document_id) REFERENCES forebay.search_document(id) ON DELETE CASCADE;
ALTER TABLE forebay.search_chunk
    ADD CONSTRAINT search_chunk_model_id_fkey FOREIGN KEY (model_id) REFERENCES forebay.search_model(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.search_indexed
    ADD CONSTRAINT search_indexed_document_id_fkey FOREIGN KEY (document_id) REFERENCES forebay.search_document(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.search_indexed
    ADD CONSTRAINT search_indexed_model_id_fkey FOREIGN KEY (model_id) REFERENCES forebay.search_model(id) ON DELETE CASCADE;
CREATE POLICY of_all ON forebay.saved_search TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.search_chunk TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.search_document TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.search_indexed TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.search_word TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.saved_search TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.search_chunk TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.search_document TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.search_indexed TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.search_word TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
ALTER TABLE forebay.saved_search ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.search_chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.search_document ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.search_indexed ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.search_word ENABLE ROW LEVEL SECURITY;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.saved_search TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.saved_search TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.saved_search TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.saved_search_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.saved_search_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.saved_search_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.saved_search_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_backfill TO forebay_worker;
GRANT SELECT ON TABLE forebay.search_backfill TO forebay_admin;
GRANT SELECT ON TABLE forebay.search_chunk TO forebay_api;
GRANT SELECT ON TABLE forebay.search_chunk TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_chunk TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_document TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_document TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_document TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.search_document_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.search_document_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.search_document_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.search_document_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.search_indexed TO forebay_api;
GRANT SELECT ON TABLE forebay.search_indexed TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_indexed TO forebay_worker;
GRANT SELECT ON TABLE forebay.search_model TO forebay_api;
GRANT SELECT,UPDATE ON TABLE forebay.search_model TO forebay_admin;
GRANT SELECT,UPDATE ON TABLE forebay.search_model TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.search_model_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.search_model_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.search_model_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.search_model_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.search_word TO forebay_api;
GRANT SELECT ON TABLE forebay.search_word TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.search_word TO forebay_worker;
