-- The lowest bit that no version of the pipeline uses; null when there is none.
create or replace function forebay.free_bit(pipe forebay.pipeline) returns bigint language sql stable as $$
select 1::bigint << b from generate_series(0, 62) b
where not exists (
    select from forebay.version_step s join forebay.pipeline_version v on v.id = s.version_id
    where v.pipeline_id = pipe.id and s.bit = 1::bigint << b)
order by b limit 1
$$;
