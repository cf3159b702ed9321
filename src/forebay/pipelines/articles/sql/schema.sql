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
CREATE TABLE forebay.article_task (
    job_id bigint NOT NULL,
    item integer NOT NULL,
    article_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
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
CREATE VIEW forebay.embedding_log WITH (security_invoker='true') AS
 SELECT t.article_id,
    t.job_id,
    t.item,
    t.owner_id,
    e.at,
    e.event,
    e.attempt,
    e.reason
   FROM (forebay.article_task t
     CROSS JOIN LATERAL ( SELECT t.queued_at AS at,
            'created'::text AS event,
            NULL::integer AS attempt,
            NULL::text AS reason
        UNION ALL
         SELECT a.started_at,
            'processing'::text,
            (a.attempt)::integer AS attempt,
            NULL::text
           FROM forebay.attempt a
          WHERE ((a.job_id = t.job_id) AND (a.n = t.item))
        UNION ALL
         SELECT l.claimed_at,
            'processing'::text,
            (l.attempt)::integer AS attempt,
            NULL::text
           FROM forebay.lease l
          WHERE ((l.job_id = t.job_id) AND (l.ns @> t.item))
        UNION ALL
         SELECT a.ended_at,
                CASE
                    WHEN (a.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome])) THEN 'completed'::text
                    WHEN (a.outcome = 'CANCELLED'::forebay.outcome) THEN 'cancelled'::text
                    WHEN ((a.outcome = 'ERROR'::forebay.outcome) AND (EXISTS ( SELECT
                       FROM forebay.dead_letter d
                      WHERE ((d.job_id = a.job_id) AND (d.n = a.n) AND (d.step_id = a.step_id) AND (d.attempt = a.attempt))))) THEN 'failed'::text
                    ELSE 'retried'::text
                END AS "case",
            (a.attempt)::integer AS attempt,
            a.reason
           FROM forebay.attempt a
          WHERE ((a.job_id = t.job_id) AND (a.n = t.item))) e);
CREATE VIEW forebay.embedding_tasks WITH (security_invoker='true') AS
 SELECT forebay.embedding_task_id(t.job_id, t.item) AS id,
    t.article_id,
    (i.input ->> 'slug'::text) AS slug,
    (i.input ->> 'operation'::text) AS operation,
    forebay.priority_name(j.priority) AS priority,
        CASE
            WHEN (i.status = ANY (ARRAY['DONE'::forebay.item_status, 'SKIPPED'::forebay.item_status, 'NOT_FOUND'::forebay.item_status])) THEN 'completed'::text
            WHEN (i.status = 'ERROR'::forebay.item_status) THEN 'failed'::text
            WHEN (l.token IS NOT NULL) THEN 'processing'::text
            ELSE 'pending'::text
        END AS status,
    (COALESCE(a.attempts, 0) + ((l.token IS NOT NULL))::integer) AS attempts,
    (s.max_attempts)::integer AS max_attempts,
    t.queued_at AS created_at,
    COALESCE(later.run_at, t.queued_at) AS scheduled_at,
    COALESCE(l.claimed_at, a.last_started_at) AS processed_at,
        CASE
            WHEN (i.status <> 'PENDING'::forebay.item_status) THEN i.updated_at
            ELSE NULL::timestamp with time zone
        END AS completed_at,
    (i.error ->> 'reason'::text) AS error_message,
    jsonb_strip_nulls(jsonb_build_object('result', (i.result -> 'embed'::text), 'error', i.error)) AS metadata,
    (j.priority)::integer AS rank,
    t.job_id,
    t.item,
    t.owner_id
   FROM ((((((forebay.article_task t
     JOIN forebay.job j ON ((j.id = t.job_id)))
     JOIN forebay.item i ON (((i.job_id = t.job_id) AND (i.n = t.item))))
     JOIN forebay.step s ON (((s.pipeline_id = j.pipeline_id) AND (s.name = 'embed'::text))))
     LEFT JOIN LATERAL ( SELECT l_1.token,
            l_1.claimed_at
           FROM forebay.lease l_1
          WHERE ((i.status = 'PENDING'::forebay.item_status) AND (l_1.job_id = t.job_id) AND (l_1.ns @> t.item))
         LIMIT 1) l ON (true))
     LEFT JOIN LATERAL ( SELECT (count(*) FILTER (WHERE (a_1.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome, 'ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome]))))::integer AS attempts,
            max(a_1.started_at) AS last_started_at
           FROM forebay.attempt a_1
          WHERE ((a_1.job_id = t.job_id) AND (a_1.n = t.item))) a ON (true))
     LEFT JOIN LATERAL ( SELECT max(c.run_at) AS run_at
           FROM forebay.scheduled c
          WHERE ((i.status = 'PENDING'::forebay.item_status) AND (c.job_id = t.job_id) AND ((t.item >= c.first_n) AND (t.item <= c.last_n)) AND (c.run_at < 'infinity'::timestamp with time zone))) later ON (true));
CREATE VIEW forebay.embedding_worker_status WITH (security_invoker='true') AS
 SELECT 1 AS id,
    COALESCE(bool_or(((w.stopped_at IS NULL) AND (w.seen_at > (now() - '00:01:00'::interval)))), false) AS is_running,
    max(w.seen_at) AS last_heartbeat,
    COALESCE(min((c.done + c.failed)), (0)::bigint) AS tasks_processed,
    COALESCE(min(c.done), (0)::bigint) AS tasks_succeeded,
    COALESCE(min(c.failed), (0)::bigint) AS tasks_failed,
    min(w.started_at) FILTER (WHERE (w.stopped_at IS NULL)) AS started_at
   FROM (( SELECT count(*) FILTER (WHERE (a.outcome = ANY (ARRAY['DONE'::forebay.outcome, 'SKIPPED'::forebay.outcome, 'NOT_FOUND'::forebay.outcome]))) AS done,
            count(*) FILTER (WHERE (a.outcome = ANY (ARRAY['ERROR'::forebay.outcome, 'EXPIRED'::forebay.outcome]))) AS failed
           FROM forebay.attempt a
          WHERE (a.step_id IN ( SELECT s.id
                   FROM (forebay.step s
                     JOIN forebay.pipeline p ON (((p.id = s.pipeline_id) AND (p.name = 'articles'::text))))))) c
     LEFT JOIN forebay.worker w ON (((w.stats -> 'steps'::text) ? 'articles.embed'::text)));
ALTER TABLE ONLY forebay.article_draft
    ADD CONSTRAINT article_draft_pkey PRIMARY KEY (owner_id, key);
ALTER TABLE ONLY forebay.article
    ADD CONSTRAINT article_owner_id_slug_key UNIQUE (owner_id, slug);
ALTER TABLE ONLY forebay.article
    ADD CONSTRAINT article_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.article_task
    ADD CONSTRAINT article_task_pkey PRIMARY KEY (job_id, item);
ALTER TABLE ONLY forebay.article_version
    ADD CONSTRAINT article_version_pkey PRIMARY KEY (article_id, version);
CREATE INDEX article_drafts ON forebay.article_draft USING btree (article_id) WHERE (article_id IS NOT NULL);
CREATE INDEX article_newest ON forebay.article USING btree (owner_id, id);
CREATE INDEX article_task_newest ON forebay.article_task USING btree (owner_id, job_id, item);
CREATE INDEX article_task_of ON forebay.article_task USING btree (article_id, job_id);
CREATE INDEX article_titles ON forebay.article USING btree (owner_id, lower(title) text_pattern_ops);
CREATE INDEX article_unembedded ON forebay.article USING btree (owner_id, updated_at, id) WHERE (embedding <> 'fresh'::text);
CREATE INDEX article_updated ON forebay.article USING btree (owner_id, updated_at, id);
CREATE TRIGGER tell_article AFTER INSERT OR UPDATE OF version, embedding ON forebay.article FOR EACH ROW EXECUTE FUNCTION forebay.tell_article();
ALTER TABLE ONLY forebay.article_draft
    ADD CONSTRAINT article_draft_article_id_fkey FOREIGN KEY (article_id) REFERENCES forebay.article(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.article_version
    ADD CONSTRAINT article_version_article_id_fkey FOREIGN KEY (article_id) REFERENCES forebay.article(id) ON DELETE CASCADE;
ALTER TABLE forebay.article ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.article_draft ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.article_task ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.article_version ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_all ON forebay.article TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.article_draft TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.article_task TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.article_version TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.article TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.article_draft TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.article_task TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
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
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_task TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_task TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_task TO forebay_worker;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_api;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.article_version TO forebay_worker;
GRANT SELECT ON TABLE forebay.embedding_log TO forebay_api;
GRANT SELECT ON TABLE forebay.embedding_log TO forebay_admin;
GRANT SELECT ON TABLE forebay.embedding_tasks TO forebay_api;
GRANT SELECT ON TABLE forebay.embedding_tasks TO forebay_admin;
GRANT SELECT ON TABLE forebay.embedding_worker_status TO forebay_admin;
