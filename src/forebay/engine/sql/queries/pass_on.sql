-- Sends wake-ups $1 (step, lane, number and round of each) to all workers, for tasks that the first of them have no room for.
select pg_notify('forebay', 'pass ' || w) from unnest($1::text[]) w
