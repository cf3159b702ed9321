-- The job and the item of a task id: see embedding_task_id.
create or replace function forebay.embedding_task_place(id uuid, out job_id bigint, out item int)
language sql immutable parallel safe as $$
select ('x' || substr(id::text, 10, 4) || substr(id::text, 25, 12))::bit(64)::bigint,
       ('x' || substr(id::text, 1, 8))::bit(32)::int
$$;
