-- What the migrations of bookmarks add to the parts before; by scripts/schema_dump.py.
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
    notes jsonb DEFAULT '{}'::jsonb NOT NULL,
    deleted_at timestamp with time zone,
    blocks jsonb,
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
    body_hash bytea,
    difference text
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
CREATE TABLE forebay.bookmark_step (
    bookmark_id bigint NOT NULL,
    step text NOT NULL,
    owner_id bigint NOT NULL,
    job_id bigint NOT NULL,
    state text NOT NULL,
    reason text,
    ended_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT bookmark_step_state_check CHECK ((state = ANY (ARRAY['DONE'::text, 'SKIPPED'::text, 'NOT_FOUND'::text, 'FAILED'::text])))
);
CREATE TABLE forebay.bookmark_tag (
    owner_id bigint NOT NULL,
    tag text NOT NULL,
    bookmark_id bigint NOT NULL
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
ALTER TABLE ONLY forebay.bookmark_change
    ADD CONSTRAINT bookmark_change_pkey PRIMARY KEY (bookmark_id, at);
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_owner_id_page_hash_key UNIQUE (owner_id, page_hash);
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.bookmark_step
    ADD CONSTRAINT bookmark_step_pkey PRIMARY KEY (bookmark_id, step);
ALTER TABLE ONLY forebay.category
    ADD CONSTRAINT category_owner_id_name_key UNIQUE (owner_id, name);
ALTER TABLE ONLY forebay.category
    ADD CONSTRAINT category_pkey PRIMARY KEY (id);
CREATE INDEX bookmark_canonical ON forebay.bookmark USING btree (owner_id, canonical_hash) WHERE (canonical_hash IS NOT NULL);
CREATE INDEX bookmark_category ON forebay.bookmark USING btree (category_id, id) WHERE (category_id IS NOT NULL);
CREATE INDEX bookmark_category_shown ON forebay.bookmark USING btree (owner_id, category_id) WHERE ((archived_at IS NULL) AND (deleted_at IS NULL) AND (category_id IS NOT NULL));
CREATE INDEX bookmark_due ON forebay.bookmark USING btree (next_crawl_at) WHERE ((next_crawl_at IS NOT NULL) AND (archived_at IS NULL));
CREATE INDEX bookmark_duplicates ON forebay.bookmark USING btree (duplicate_of) WHERE (duplicate_of IS NOT NULL);
CREATE INDEX bookmark_export ON forebay.bookmark USING btree (owner_id, COALESCE(category_id, (0)::bigint), id);
CREATE INDEX bookmark_kind ON forebay.bookmark USING btree (owner_id, kind, id);
CREATE INDEX bookmark_newest ON forebay.bookmark USING btree (owner_id, id) WHERE ((archived_at IS NULL) AND (deleted_at IS NULL));
CREATE INDEX bookmark_owner ON forebay.bookmark USING btree (owner_id, id);
CREATE INDEX bookmark_search ON forebay.bookmark USING gin (search);
CREATE INDEX bookmark_site ON forebay.bookmark USING btree (owner_id, forebay.url_site(url), id);
CREATE INDEX bookmark_tag_of ON forebay.bookmark_tag USING btree (bookmark_id);
CREATE INDEX bookmark_tag_used ON forebay.bookmark_tag USING btree (owner_id, tag);
CREATE INDEX bookmark_tags ON forebay.bookmark USING gin (tags);
CREATE INDEX bookmark_title ON forebay.bookmark USING gin (lower(COALESCE(own_title, title)) public.gin_trgm_ops);
CREATE INDEX bookmark_trash ON forebay.bookmark USING btree (owner_id, id) WHERE (deleted_at IS NOT NULL);
CREATE TRIGGER drop_files AFTER DELETE OR UPDATE OF screenshot_id, full_page_id, image_id, favicon_id ON forebay.bookmark FOR EACH ROW EXECUTE FUNCTION forebay.drop_bookmark_files();
CREATE TRIGGER forget_indexed AFTER DELETE ON forebay.bookmark FOR EACH ROW EXECUTE FUNCTION forebay.keep_bookmark_indexed();
CREATE TRIGGER keep_indexed AFTER UPDATE ON forebay.bookmark FOR EACH ROW WHEN ((((new.crawled_at IS NOT NULL) OR (old.crawled_at IS NOT NULL)) AND (((((((((((new.own_title IS DISTINCT FROM old.own_title) OR (new.title IS DISTINCT FROM old.title)) OR (new.tags IS DISTINCT FROM old.tags)) OR (new.note IS DISTINCT FROM old.note)) OR (new.description IS DISTINCT FROM old.description)) OR (new.body IS DISTINCT FROM old.body)) OR (new.caption IS DISTINCT FROM old.caption)) OR (new.ocr IS DISTINCT FROM old.ocr)) OR (new.language IS DISTINCT FROM old.language)) OR (new.deleted_at IS DISTINCT FROM old.deleted_at)) OR ((new.crawled_at IS NULL) IS DISTINCT FROM (old.crawled_at IS NULL))))) EXECUTE FUNCTION forebay.keep_bookmark_indexed();
CREATE TRIGGER keep_tags AFTER UPDATE OF tags, archived_at, deleted_at ON forebay.bookmark FOR EACH ROW EXECUTE FUNCTION forebay.keep_bookmark_tags();
CREATE TRIGGER keep_tags_of_new AFTER INSERT ON forebay.bookmark FOR EACH ROW WHEN ((new.tags <> '{}'::text[])) EXECUTE FUNCTION forebay.keep_bookmark_tags();
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_category_id_fkey FOREIGN KEY (category_id) REFERENCES forebay.category(id) ON DELETE SET NULL;
ALTER TABLE ONLY forebay.bookmark_change
    ADD CONSTRAINT bookmark_change_bookmark_id_fkey FOREIGN KEY (bookmark_id) REFERENCES forebay.bookmark(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.bookmark
    ADD CONSTRAINT bookmark_duplicate_of_fkey FOREIGN KEY (duplicate_of) REFERENCES forebay.bookmark(id) ON DELETE SET NULL;
ALTER TABLE ONLY forebay.bookmark_step
    ADD CONSTRAINT bookmark_step_bookmark_id_fkey FOREIGN KEY (bookmark_id) REFERENCES forebay.bookmark(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.bookmark_tag
    ADD CONSTRAINT bookmark_tag_bookmark_id_fkey FOREIGN KEY (bookmark_id) REFERENCES forebay.bookmark(id) ON DELETE CASCADE;
ALTER TABLE forebay.bookmark ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark_step ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.bookmark_tag ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.category ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.bookmark TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark_change TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark_step TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.bookmark_tag TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.category TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.bookmark TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark_change TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark_step TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.bookmark_tag TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.category TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
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
GRANT SELECT ON TABLE forebay.bookmark_messages TO forebay_admin;
GRANT SELECT,DELETE ON TABLE forebay.bookmark_step TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.bookmark_step TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_step TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.bookmark_tag TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.category TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.category_id_seq TO forebay_worker;
