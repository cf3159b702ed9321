-- Records which versions of pipelines have a step that no living worker runs, and since when.
create or replace function forebay.note_unserved(now timestamptz default null) returns void language sql as $$
with served as (
    select distinct s.step_id from forebay.worker w cross join lateral unnest(w.steps) s(step_id)
    where w.stopped_at is null and w.seen_at > coalesce(now, clock_timestamp()) - interval '1 minute'
),
state as (
    select v.id, exists (
        select from forebay.version_step s
        where s.version_id = v.id and s.step_id not in (select e.step_id from served e)) as is_unserved
    from forebay.pipeline_version v
)
update forebay.pipeline_version v set unserved_since = case when s.is_unserved then coalesce(now, clock_timestamp()) end
from state s where s.id = v.id and s.is_unserved <> (v.unserved_since is not null)
$$;
