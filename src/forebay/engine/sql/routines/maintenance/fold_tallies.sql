-- Sums up the tally rows of each owner and pipeline that were added since the last time. Returns by how many rows the table shrank.
create or replace function forebay.fold_tallies() returns bigint language plpgsql set jit = off as $$
declare fewer bigint;
begin
    with gathered as materialized (
        select t.owner_id, t.pipeline_id from forebay.tally t group by t.owner_id, t.pipeline_id having count(*) > 1
    ),
    old as (
        delete from forebay.tally t where t.ctid = any(array(
            select o.ctid from forebay.tally o
            join gathered g on g.owner_id = o.owner_id and g.pipeline_id = o.pipeline_id
            for update of o skip locked))
        returning t.*
    ),
    new as (
        insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
        select f.* from (
            select o.owner_id, o.pipeline_id, sum(o.done)::bigint as done, sum(o.skipped)::bigint as skipped,
                   sum(o.not_found)::bigint as not_found, sum(o.error)::bigint as error
            from old o group by o.owner_id, o.pipeline_id) f
        where (f.done, f.skipped, f.not_found, f.error) <> (0, 0, 0, 0)
        returning 1
    )
    select (select count(*) from old) - (select count(*) from new) into fewer;
    return fewer;
end $$;
