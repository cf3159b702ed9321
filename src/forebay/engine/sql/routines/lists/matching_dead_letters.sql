-- Reads up to max_rows dead letters, see recent_dead_letters, and says of each whether it fits the filters (null: any;
-- class '': those without one). `masked` is its reason as mask_reason() makes it, and so is with_reason.
create or replace function forebay.matching_dead_letters(
    whose bigint, in_job bigint, in_pipeline text, in_step text, with_class text, with_reason text, max_rows int
) returns table (at timestamptz, job_id bigint, n int, pipeline text, step text, class text, masked text, fits boolean)
language sql stable set jit = off as $$
with seen as materialized (
    select d.* from forebay.recent_dead_letters(whose, in_job, max_rows) d
),
reasons as materialized (
    select r.reason, forebay.mask_reason(r.reason) as masked from (select distinct coalesce(s.reason, '') as reason from seen s) r
)
select d.at, d.job_id, d.n, p.name, s.name, d.class, m.masked,
       (in_pipeline is null or p.name = in_pipeline) and (in_step is null or s.name = in_step)
       and (with_class is null or coalesce(d.class, '') = with_class) and (with_reason is null or m.masked = with_reason)
from seen d
join forebay.step s on s.id = d.step_id
join forebay.pipeline p on p.id = s.pipeline_id
join reasons m on m.reason = coalesce(d.reason, '')
$$;
