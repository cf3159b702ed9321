-- What the migrations of intake add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.intake_file (
    target text NOT NULL,
    reference bigint NOT NULL,
    owner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    intake_job_id bigint,
    name text NOT NULL,
    size bigint,
    options jsonb DEFAULT '{}'::jsonb NOT NULL,
    source text,
    path text,
    version text,
    file_id bigint,
    problem text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    received_at timestamp with time zone,
    CONSTRAINT intake_file_name_check CHECK (((length(name) >= 1) AND (length(name) <= 500))),
    CONSTRAINT intake_file_size_check CHECK ((size >= 0)),
    CONSTRAINT intake_file_target_check CHECK (((length(target) >= 1) AND (length(target) <= 63)))
);
CREATE TABLE forebay.intake_part (
    target text NOT NULL,
    reference bigint NOT NULL,
    owner_id bigint NOT NULL,
    start bigint NOT NULL,
    name uuid DEFAULT gen_random_uuid() NOT NULL,
    size bigint,
    sha256 bytea,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT intake_part_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT intake_part_size_check CHECK ((size > 0)),
    CONSTRAINT intake_part_start_check CHECK ((start >= 0))
);
CREATE TABLE forebay.intake_taken (
    target text NOT NULL,
    source text NOT NULL,
    path bytea NOT NULL,
    version bytea NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
ALTER TABLE ONLY forebay.intake_file
    ADD CONSTRAINT intake_file_job_id_key UNIQUE (job_id);
ALTER TABLE ONLY forebay.intake_file
    ADD CONSTRAINT intake_file_pkey PRIMARY KEY (target, reference);
ALTER TABLE ONLY forebay.intake_part
    ADD CONSTRAINT intake_part_pkey PRIMARY KEY (target, reference, start, name);
ALTER TABLE ONLY forebay.intake_taken
    ADD CONSTRAINT intake_taken_pkey PRIMARY KEY (target, source, path, version);
CREATE INDEX intake_file_uploading ON forebay.intake_file USING btree (created_at) WHERE (intake_job_id IS NULL);
CREATE INDEX intake_part_age ON forebay.intake_part USING btree (created_at);
CREATE UNIQUE INDEX intake_part_counted ON forebay.intake_part USING btree (target, reference, start) WHERE (size IS NOT NULL);
CREATE INDEX intake_taken_seen ON forebay.intake_taken USING btree (target, seen_at);
CREATE TRIGGER cancel_receiving AFTER INSERT ON forebay.audit FOR EACH ROW WHEN ((new.action = 'cancel'::text)) EXECUTE FUNCTION forebay.cancel_receiving();
ALTER TABLE ONLY forebay.intake_part
    ADD CONSTRAINT intake_part_target_reference_fkey FOREIGN KEY (target, reference) REFERENCES forebay.intake_file(target, reference) ON DELETE CASCADE;
ALTER TABLE forebay.intake_file ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.intake_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.intake_file TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.intake_part TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_own_job ON forebay.intake_file AS RESTRICTIVE TO forebay_api USING (true) WITH CHECK ((EXISTS ( SELECT
   FROM forebay.job j
  WHERE (j.id = intake_file.job_id))));
CREATE POLICY of_owner ON forebay.intake_file TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.intake_part TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
GRANT SELECT,DELETE ON TABLE forebay.intake_file TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.intake_file TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.intake_file TO forebay_worker;
GRANT INSERT(target) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(target) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(reference) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(reference) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(owner_id) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(job_id) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(job_id) ON TABLE forebay.intake_file TO forebay_admin;
GRANT UPDATE(intake_job_id) ON TABLE forebay.intake_file TO forebay_api;
GRANT UPDATE(intake_job_id) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(name) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(name) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(size) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(size) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(options) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(options) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(source) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(source) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(path) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(path) ON TABLE forebay.intake_file TO forebay_admin;
GRANT INSERT(version) ON TABLE forebay.intake_file TO forebay_api;
GRANT INSERT(version) ON TABLE forebay.intake_file TO forebay_admin;
GRANT UPDATE(problem) ON TABLE forebay.intake_file TO forebay_api;
GRANT UPDATE(problem) ON TABLE forebay.intake_file TO forebay_admin;
GRANT SELECT,DELETE ON TABLE forebay.intake_part TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.intake_part TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.intake_part TO forebay_worker;
GRANT INSERT(target) ON TABLE forebay.intake_part TO forebay_api;
GRANT INSERT(target) ON TABLE forebay.intake_part TO forebay_admin;
GRANT INSERT(reference) ON TABLE forebay.intake_part TO forebay_api;
GRANT INSERT(reference) ON TABLE forebay.intake_part TO forebay_admin;
GRANT INSERT(owner_id) ON TABLE forebay.intake_part TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.intake_part TO forebay_admin;
GRANT INSERT(start) ON TABLE forebay.intake_part TO forebay_api;
GRANT INSERT(start) ON TABLE forebay.intake_part TO forebay_admin;
GRANT UPDATE(size) ON TABLE forebay.intake_part TO forebay_api;
GRANT UPDATE(size) ON TABLE forebay.intake_part TO forebay_admin;
GRANT UPDATE(sha256) ON TABLE forebay.intake_part TO forebay_api;
GRANT UPDATE(sha256) ON TABLE forebay.intake_part TO forebay_admin;
GRANT SELECT,INSERT,UPDATE ON TABLE forebay.intake_taken TO forebay_api;
GRANT SELECT,INSERT,UPDATE ON TABLE forebay.intake_taken TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.intake_taken TO forebay_worker;
