-- Whether the data of a task is too large to be sent before the task starts. Does not read the value itself.
create or replace function forebay.is_large(input jsonb, result jsonb, normalized jsonb, is_reading boolean) returns boolean
language sql stable as $$
select pg_column_size(input) > 8192
    or is_reading and coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(normalized), 0) > 8192
$$;
