-- Who else waits for the same step, or for the same key of a limit, as numbers that tell nothing about others: the sum of the
-- weights of the other owners, their number, and how many tasks have a higher priority. At most max_runs lanes and runs are read;
-- is_cut: there were more. Runs with the rights of the owner of the tables, because callers see only their own rows.
create or replace function forebay.contention(
    bit_of_step bigint, of_pipeline int, of_owner bigint, of_priority smallint, of_limit text, of_key text, max_runs int default 10000,
    out owners int, out weights float8, out higher bigint, out is_cut boolean
) language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
    with recursive variant as (
        select s.id from forebay.step s where s.pipeline_id = of_pipeline and s.bit = bit_of_step
    ),
    pair(step_id, lane_id, place) as (
        select v.id, (select r.lane_id from forebay.ready r where r.step_id = v.id order by r.lane_id limit 1), 1 from variant v
        union all
        select p.step_id, (select r.lane_id from forebay.ready r where r.step_id = p.step_id and r.lane_id > p.lane_id
                           order by r.lane_id limit 1), p.place + 1
        from pair p where p.lane_id is not null and p.place < max_runs
    ),
    lane as materialized (
        select p.step_id, p.lane_id, l.owner_id, l.priority from pair p join forebay.lane l on l.id = p.lane_id and not l.paused
        where l.limit_name = of_limit and l.limit_key = of_key
    ),
    other as (
        select distinct l.owner_id from lane l where l.owner_id <> of_owner and l.priority = of_priority
    ),
    first as (
        select r.tasks from lane l cross join lateral (
            select r.last_n - r.first_n + 1 as tasks from forebay.ready r
            where r.step_id = l.step_id and r.lane_id = l.lane_id limit max_runs) r
        where l.priority > of_priority limit max_runs
    )
    select (select count(*) from other), (select coalesce(sum(o.weight), 0) from other t join forebay.owner o on o.id = t.owner_id),
           (select coalesce(sum(f.tasks), 0) from first f),
           (select count(*) from first f) >= max_runs or (select coalesce(max(p.place), 0) from pair p) >= max_runs
    into owners, weights, higher, is_cut;
end $$;
revoke execute on function forebay.contention(bigint, int, bigint, smallint, text, text, int) from public;
