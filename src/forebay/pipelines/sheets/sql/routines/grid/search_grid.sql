-- Reads those of the rows with these numbers that have a text in a cell, whatever its case. Line and status are not searched: they
-- are not content, and lists have a filter for them.
create or replace function forebay.search_grid(job_id bigint, ns int[], shown text[], question text, max_rows int)
returns table (n int, status text, cells text[])
language plpgsql stable set enable_seqscan = off set jit = off as $$
begin
    return query execute
        'select s.n, s.status, s.cells from (' || forebay.grid_query(job_id, 'cells', shown => shown) || ') s
         where exists (select from unnest(s.cells[3:]) c where strpos(lower(c), $2) > 0) order by s.n limit $3'
    using ns, lower(question), max_rows;
end $$;
