-- What the migrations of sheets add to the parts before; by scripts/schema_dump.py.
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
    replaced_by bigint,
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
CREATE TABLE forebay.sheet_preset (
    owner_id bigint NOT NULL,
    fingerprint bytea NOT NULL,
    mapping jsonb NOT NULL,
    providers text[],
    used_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY forebay.catalogue
    ADD CONSTRAINT catalogue_owner_id_name_key UNIQUE (owner_id, name);
ALTER TABLE ONLY forebay.catalogue
    ADD CONSTRAINT catalogue_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_catalogue_id_key_key UNIQUE (catalogue_id, key);
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.sheet_export
    ADD CONSTRAINT sheet_export_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY forebay.sheet_file
    ADD CONSTRAINT sheet_file_pkey PRIMARY KEY (file_id);
ALTER TABLE ONLY forebay.sheet
    ADD CONSTRAINT sheet_job_id_key UNIQUE (job_id);
ALTER TABLE ONLY forebay.sheet
    ADD CONSTRAINT sheet_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.sheet_preset
    ADD CONSTRAINT sheet_preset_pkey PRIMARY KEY (owner_id, fingerprint);
CREATE INDEX catalogue_shared ON forebay.catalogue USING btree (id) WHERE shared;
CREATE INDEX product_gtin ON forebay.product USING btree (gtin) WHERE (gtin IS NOT NULL);
CREATE INDEX product_mpn ON forebay.product USING btree (mpn) WHERE (mpn IS NOT NULL);
CREATE INDEX product_search ON forebay.product USING gin (search) WITH (fastupdate=off);
CREATE INDEX product_sku ON forebay.product USING btree (sku) WHERE (sku IS NOT NULL);
CREATE INDEX product_text ON forebay.product USING gin (text public.gin_trgm_ops) WITH (fastupdate=off);
CREATE INDEX sheet_export_owner ON forebay.sheet_export USING btree (owner_id, job_id);
CREATE INDEX sheet_export_sheet ON forebay.sheet_export USING btree (sheet_id, job_id);
CREATE INDEX sheet_file_sheet ON forebay.sheet_file USING btree (sheet_id);
CREATE INDEX sheet_owner ON forebay.sheet USING btree (owner_id, id);
CREATE TRIGGER forget_indexed AFTER DELETE ON forebay.sheet FOR EACH ROW EXECUTE FUNCTION forebay.keep_sheet_indexed();
CREATE TRIGGER keep_indexed AFTER UPDATE OF read_at ON forebay.sheet FOR EACH ROW WHEN ((new.read_at IS NOT NULL)) EXECUTE FUNCTION forebay.keep_sheet_indexed();
CREATE TRIGGER set_summary_paths AFTER INSERT OR UPDATE OF mapping ON forebay.sheet FOR EACH ROW WHEN ((new.mapping IS NOT NULL)) EXECUTE FUNCTION forebay.set_summary_paths();
ALTER TABLE ONLY forebay.product
    ADD CONSTRAINT product_catalogue_id_fkey FOREIGN KEY (catalogue_id) REFERENCES forebay.catalogue(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.sheet_export
    ADD CONSTRAINT sheet_export_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES forebay.sheet(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.sheet_file
    ADD CONSTRAINT sheet_file_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES forebay.sheet(id) ON DELETE CASCADE;
ALTER TABLE forebay.catalogue ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.catalogue TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.product TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_export TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_file TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.sheet_preset TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_own_job ON forebay.sheet AS RESTRICTIVE TO forebay_api USING (true) WITH CHECK ((EXISTS ( SELECT
   FROM forebay.job j
  WHERE (j.id = sheet.job_id))));
CREATE POLICY of_owner ON forebay.catalogue TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.product TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_export TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_file TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.sheet_preset TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_shared ON forebay.catalogue FOR SELECT TO forebay_api USING (shared);
CREATE POLICY of_shared ON forebay.product FOR SELECT TO forebay_api USING ((EXISTS ( SELECT
   FROM forebay.catalogue c
  WHERE ((c.id = product.catalogue_id) AND c.shared))));
ALTER TABLE forebay.product ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_export ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.sheet_preset ENABLE ROW LEVEL SECURITY;
GRANT SELECT,DELETE ON TABLE forebay.catalogue TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.catalogue TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.catalogue TO forebay_worker;
GRANT UPDATE(shared) ON TABLE forebay.catalogue TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.catalogue_id_seq TO forebay_worker;
GRANT SELECT ON TABLE forebay.product TO forebay_api;
GRANT SELECT ON TABLE forebay.product TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.product TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.product_id_seq TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.sheet TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.sheet TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet TO forebay_worker;
GRANT INSERT(owner_id) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(job_id) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(job_id) ON TABLE forebay.sheet TO forebay_admin;
GRANT INSERT(name) ON TABLE forebay.sheet TO forebay_api;
GRANT INSERT(name) ON TABLE forebay.sheet TO forebay_admin;
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
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_preset TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.sheet_preset TO forebay_admin;
GRANT SELECT ON TABLE forebay.sheet_preset TO forebay_worker;
