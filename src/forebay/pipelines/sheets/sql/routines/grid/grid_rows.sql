-- Reads a page of the grid: the rows with these numbers.
create or replace function forebay.grid_rows(job_id bigint, ns int[], shown text[] default '{}')
returns table (n int, status text, cells text[])
language plpgsql stable set enable_seqscan = off set jit = off as $$
begin
    return query execute forebay.grid_query(job_id, 'cells', shown => shown) using ns;
end $$;
