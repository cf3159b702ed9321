-- The id of an item as a UUID (version 8), for programs that expect one. It can be computed backwards: see embedding_task_place.
create or replace function forebay.embedding_task_id(job_id bigint, item int) returns uuid
language sql immutable parallel safe as $$
select (lpad(to_hex(item), 8, '0') || '-' || lpad(to_hex(job_id >> 48), 4, '0') || '-8000-8000-'
        || lpad(to_hex(job_id & 281474976710655), 12, '0'))::uuid
$$;
