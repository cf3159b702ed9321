-- Writes an audit record.
create or replace function forebay.note(
    actor text, action text, owner_id bigint, job_id bigint, n int, detail jsonb, at timestamptz
) returns void language sql as $$
insert into forebay.audit (at, actor, action, owner_id, job_id, n, detail) values (at, actor, action, owner_id, job_id, n, detail)
$$;
