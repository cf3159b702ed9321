-- Runs the failed tasks of articles again, with high priority, of one owner or of all that the caller may see; returns how many.
create or replace function forebay.retry_embeddings(of_owner bigint, actor text) returns int language plpgsql as $$
declare
    failed record;
    retried int;
    total int := 0;
begin
    for failed in
        select distinct d.job_id, j.total as items, j.priority
        from forebay.dead_letter d
        join forebay.step s on s.id = d.step_id and s.name = 'embed'
        join forebay.pipeline p on p.id = s.pipeline_id and p.name = 'articles'
        join forebay.job j on j.id = d.job_id
        where of_owner is null or d.owner_id = of_owner
        order by d.job_id
    loop
        if failed.items = 1 and failed.priority < 10 then
            update forebay.job j set priority = 10, lane_id = forebay.lane_id(j.owner_id, 0, 10::smallint)
            where j.id = failed.job_id and j.finished_at is not null;
        end if;
        retried := forebay.reprocess(failed.job_id, '{ERROR}', actor => retry_embeddings.actor);
        if retried > 0 then
            update forebay.article a set embedding = 'waiting', problem = null
            from forebay.article_task t
            where t.job_id = failed.job_id and a.id = t.article_id and a.job_id = t.job_id and a.item = t.item
              and a.embedding = 'failed';
            total := total + retried;
        end if;
    end loop;
    return total;
end $$;
