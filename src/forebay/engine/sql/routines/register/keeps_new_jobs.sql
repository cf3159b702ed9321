-- Whether the present version of a pipeline stays the present one: it has workers, or waits for its first one for less than ten
-- minutes.
create or replace function forebay.keeps_new_jobs(pipe forebay.pipeline, at timestamptz) returns boolean language sql stable as $$
select forebay.has_workers(pipe.version_id, at)
    or pipe.updated_at > at - interval '10 minutes'
       and not exists (select from forebay.worker w where pipe.version_id = any(w.versions))
$$;
