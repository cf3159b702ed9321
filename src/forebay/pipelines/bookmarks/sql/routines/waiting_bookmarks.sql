-- Lists bookmark jobs with tasks that are ready, the oldest first, of an owner or of all; only some, if there are very many.
create or replace function forebay.waiting_bookmarks(owner_id bigint, max_rows int) returns bigint[] language sql stable as $$
select array(
    select distinct w.job_id
    from (
        select r.job_id from forebay.ready r
        join forebay.lane l on l.id = r.lane_id and not l.paused
        where r.step_id in (
            select s.id from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id and p.name = 'bookmarks'
            join forebay.queue q on q.name = s.queue and not q.paused and q.parked is null)
          and (waiting_bookmarks.owner_id is null or r.owner_id = waiting_bookmarks.owner_id)
        limit 5000) w
    order by w.job_id limit max_rows)
$$;
