-- What the migrations of media add to the parts before; by scripts/schema_dump.py.
CREATE TABLE forebay.share (
    id bigint NOT NULL,
    owner_id bigint NOT NULL,
    url text,
    playlist_id bigint,
    playlist_index integer,
    priority smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    job_id bigint,
    item_n integer DEFAULT 1 NOT NULL,
    download_status character varying(20) DEFAULT 'pending'::character varying NOT NULL,
    download_attempts integer DEFAULT 0 NOT NULL,
    download_error text,
    download_started_at timestamp with time zone,
    download_completed_at timestamp with time zone,
    kind text,
    title text,
    description text,
    author text,
    site text,
    language text,
    published_at timestamp with time zone,
    duration_s double precision,
    width integer,
    height integer,
    video_codec text,
    audio_codec text,
    container text,
    file_id bigint,
    size bigint,
    sha256 bytea,
    file_removed_at timestamp with time zone,
    poster_id bigint,
    platform_data jsonb DEFAULT '{}'::jsonb NOT NULL,
    transcript_status text DEFAULT 'pending'::text NOT NULL,
    transcript_error text,
    spoken text,
    search tsvector GENERATED ALWAYS AS (forebay.share_searched(language, title, author, description, spoken)) STORED,
    CONSTRAINT share_download_status_check CHECK (((download_status)::text = ANY ((ARRAY['pending'::character varying, 'processing'::character varying, 'retry'::character varying, 'completed'::character varying, 'failed'::character varying])::text[]))),
    CONSTRAINT share_kind_check CHECK ((kind = ANY (ARRAY['video'::text, 'audio'::text, 'image'::text, 'playlist'::text, 'file'::text]))),
    CONSTRAINT share_transcript_status_check CHECK ((transcript_status = ANY (ARRAY['pending'::text, 'processing'::text, 'completed'::text, 'skipped'::text, 'failed'::text]))),
    CONSTRAINT share_url_check CHECK (((length(url) >= 1) AND (length(url) <= 8192)))
);
ALTER TABLE forebay.share ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME forebay.share_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE forebay.transcript (
    share_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    language text,
    source text NOT NULL,
    model text,
    segments jsonb NOT NULL,
    text text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT transcript_source_check CHECK ((source = ANY (ARRAY['subtitles'::text, 'speech'::text])))
);
CREATE TABLE forebay.transcript_piece (
    share_id bigint NOT NULL,
    owner_id bigint NOT NULL,
    start_ms bigint NOT NULL,
    end_ms bigint NOT NULL,
    sha256 bytea NOT NULL,
    model text NOT NULL,
    is_last boolean NOT NULL,
    language text,
    segments jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT transcript_piece_check CHECK ((end_ms >= start_ms))
);
ALTER TABLE ONLY forebay.share
    ADD CONSTRAINT share_pkey PRIMARY KEY (id);
ALTER TABLE ONLY forebay.transcript_piece
    ADD CONSTRAINT transcript_piece_pkey PRIMARY KEY (share_id, start_ms);
ALTER TABLE ONLY forebay.transcript
    ADD CONSTRAINT transcript_pkey PRIMARY KEY (share_id);
CREATE INDEX idx_shares_download_queue ON forebay.share USING btree (download_status, created_at) WHERE ((download_status)::text = ANY ((ARRAY['pending'::character varying, 'retry'::character varying])::text[]));
CREATE INDEX idx_shares_download_status ON forebay.share USING btree (download_status);
CREATE INDEX share_completed ON forebay.share USING btree (download_completed_at) WHERE (file_id IS NOT NULL);
CREATE INDEX share_created ON forebay.share USING btree (created_at);
CREATE INDEX share_job ON forebay.share USING btree (job_id) WHERE (job_id IS NOT NULL);
CREATE INDEX share_kind ON forebay.share USING btree (owner_id, kind, id);
CREATE INDEX share_owner ON forebay.share USING btree (owner_id, id);
CREATE INDEX share_playlist ON forebay.share USING btree (playlist_id, playlist_index) WHERE (playlist_id IS NOT NULL);
CREATE INDEX share_search ON forebay.share USING gin (search);
CREATE INDEX share_state ON forebay.share USING btree (owner_id, download_status, id);
CREATE INDEX transcript_owner ON forebay.transcript USING btree (owner_id, share_id);
CREATE TRIGGER drop_files AFTER DELETE OR UPDATE OF file_id, poster_id ON forebay.share FOR EACH ROW EXECUTE FUNCTION forebay.drop_share_files();
CREATE TRIGGER forget_indexed AFTER DELETE ON forebay.share FOR EACH ROW EXECUTE FUNCTION forebay.keep_share_indexed();
CREATE TRIGGER keep_indexed AFTER UPDATE ON forebay.share FOR EACH ROW WHEN (((NOT (new.spoken IS DISTINCT FROM old.spoken)) AND ((((((new.kind IS DISTINCT FROM old.kind) OR (new.title IS DISTINCT FROM old.title)) OR (new.description IS DISTINCT FROM old.description)) OR (new.author IS DISTINCT FROM old.author)) OR (new.site IS DISTINCT FROM old.site)) OR (new.language IS DISTINCT FROM old.language)))) EXECUTE FUNCTION forebay.keep_share_indexed();
CREATE TRIGGER keep_spoken_indexed AFTER UPDATE OF spoken ON forebay.share FOR EACH ROW EXECUTE FUNCTION forebay.keep_share_indexed();
ALTER TABLE ONLY forebay.share
    ADD CONSTRAINT share_playlist_id_fkey FOREIGN KEY (playlist_id) REFERENCES forebay.share(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.transcript_piece
    ADD CONSTRAINT transcript_piece_share_id_fkey FOREIGN KEY (share_id) REFERENCES forebay.share(id) ON DELETE CASCADE;
ALTER TABLE ONLY forebay.transcript
    ADD CONSTRAINT transcript_share_id_fkey FOREIGN KEY (share_id) REFERENCES forebay.share(id) ON DELETE CASCADE;
CREATE POLICY of_all ON forebay.share TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.transcript TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_all ON forebay.transcript_piece TO forebay_admin, forebay_worker USING (true);
CREATE POLICY of_owner ON forebay.share TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.transcript TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
CREATE POLICY of_owner ON forebay.transcript_piece TO forebay_api USING ((owner_id = ( SELECT (NULLIF(current_setting('forebay.owner_id'::text, true), ''::text))::bigint AS "nullif")));
ALTER TABLE forebay.share ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.transcript ENABLE ROW LEVEL SECURITY;
ALTER TABLE forebay.transcript_piece ENABLE ROW LEVEL SECURITY;
GRANT SELECT,DELETE ON TABLE forebay.share TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.share TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.share TO forebay_worker;
GRANT INSERT(owner_id) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(owner_id) ON TABLE forebay.share TO forebay_admin;
GRANT INSERT(url) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(url) ON TABLE forebay.share TO forebay_admin;
GRANT INSERT(priority),UPDATE(priority) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(priority),UPDATE(priority) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(updated_at) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(updated_at) ON TABLE forebay.share TO forebay_admin;
GRANT INSERT(job_id),UPDATE(job_id) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(job_id),UPDATE(job_id) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(item_n) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(item_n) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(download_status) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(download_status) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(download_attempts) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(download_attempts) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(download_error) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(download_error) ON TABLE forebay.share TO forebay_admin;
GRANT INSERT(title) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(title) ON TABLE forebay.share TO forebay_admin;
GRANT INSERT(platform_data) ON TABLE forebay.share TO forebay_api;
GRANT INSERT(platform_data) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(transcript_status) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(transcript_status) ON TABLE forebay.share TO forebay_admin;
GRANT UPDATE(transcript_error) ON TABLE forebay.share TO forebay_api;
GRANT UPDATE(transcript_error) ON TABLE forebay.share TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.share_id_seq TO forebay_api;
GRANT USAGE ON SEQUENCE forebay.share_id_seq TO forebay_admin;
GRANT USAGE ON SEQUENCE forebay.share_id_seq TO forebay_identity;
GRANT USAGE ON SEQUENCE forebay.share_id_seq TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.transcript TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.transcript TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.transcript TO forebay_worker;
GRANT SELECT,DELETE ON TABLE forebay.transcript_piece TO forebay_api;
GRANT SELECT,DELETE ON TABLE forebay.transcript_piece TO forebay_admin;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE forebay.transcript_piece TO forebay_worker;
