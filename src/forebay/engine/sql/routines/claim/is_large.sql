-- Whether the data of a task is too large to be sent before the task starts. The size is that of the value as it is sent: a
-- compressed value can be a hundred times as large as what is stored of it. Only compressed values are read for this, and
-- only if what is stored is small.
create or replace function forebay.is_large(input jsonb, result jsonb, normalized jsonb, is_reading boolean) returns boolean
language sql stable as $$
select pg_column_size(input) > 8192
    or pg_column_compression(input) is not null and octet_length(input::text) > 8192
    or is_reading and (
        coalesce(pg_column_size(result), 0) + coalesce(pg_column_size(normalized), 0) > 8192
        or (pg_column_compression(result) is not null or pg_column_compression(normalized) is not null)
           and coalesce(octet_length(result::text), 0) + coalesce(octet_length(normalized::text), 0) > 8192)
$$;
