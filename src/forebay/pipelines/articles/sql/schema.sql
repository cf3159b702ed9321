-- What the migrations of articles add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.article (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    slug text NOT NULL,
    title text NOT NULL,
    excerpt text NOT NULL,
    words integer NOT NULL,
    version integer DEFAULT 1 NOT NULL,
    skip_embedding boolean DEFAULT false NOT NULL,
    embedding text NOT NULL,
    embedded_version integer,
    embedded_at timestamp with time zone,
    problem text,
    job_id bigint,
    item integer,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT article_embedding_check CHECK ((embedding = ANY (ARRAY['fresh'::text, 'stale'::text, 'waiting'::text, 'failed'::text, 'off'::text]))),
    CONSTRAINT article_slug_check CHECK (((length(slug) >= 1) AND (length(slug) <= 255))),
    CONSTRAINT article_title_check CHECK (((length(title) >= 1) AND (length(title) <= 500)))
);
CREATE TABLE forebay.article_draft (
    owner_id bigint NOT NULL,
    key text NOT NULL,
    article_id bigint,
    base_version integer,
    title text NOT NULL,
    content text NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT article_draft_key_check CHECK (((length(key) >= 1) AND (length(key) <= 100)))
);
ALTER TABLE forebay.article ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.article_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.article_version (
    article_id bigint NOT NULL,
    version integer NOT NULL,
    owner_id bigint NOT NULL,
    title text NOT NULL,
    content text NOT NULL,
    message text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT article_version_message_check CHECK ((length(message) <= 1000))
);
ALTER TABLE ONLY forebay.article_draft
    ADD CONSTRAINT article_draft_pkey PRIMARY KEY (owner_id, key);
ALTER TABLE ONLY forebay.article
    ADD CONSTRAINT article_owner_id_slug_key UNIQUE (owner_id, slug);
ALTER TABLE ONLY forebay.article
    ADD CONSTRAINT article_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.article_version
    ADD CONSTRAINT article_version_pkey PRIMARY KEY (article_id, version);
CREATE INDEX article_drafts ON forebay.article_draft USING btree (article_id) WHERE (article_id IS NOT NULL);
CREATE INDEX article_newest ON forebay.article USING btree (owner_id, id);
CREATE INDEX article_titles ON forebay.article USING btree (owner_id, lower(title) text_pattern_ops);
CREATE INDEX article_unembedded ON forebay.article USING btree (owner_id, updated_at, id) WHERE (embedding <> 'fresh'::text);
CREATE INDEX article_updated ON forebay.article USING btree (owner_id, updated_at, id);
ALTER TABLE ONLY forebay.article_draft
    ADD CONSTRAINT article_draft_article_id_fkey FOREIGN KEY (article_id) REFERENCES forebay.article(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.article_version
    ADD CONSTRAINT article_version_article_id_fkey FOREIGN KEY (article_id) REFERENCES forebay.article(id) ON DELETE CASCADE;
ALTER TABLE forebay.article ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.article_draft ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.article_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.article TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.article_draft TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.article_version TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.article TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.article_draft TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.article_version TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_draft TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_draft TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_draft TO forebay_worker;
GRANT USAGE ON SEQUENCE forebay.article_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.article_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.article_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.article_id_seq TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_worker;
