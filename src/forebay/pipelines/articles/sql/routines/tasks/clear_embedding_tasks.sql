-- Deletes up to max_jobs jobs of articles that ended without a failure before a time, of one owner or of all that the caller may
-- see, with the records of their tasks; returns the number of tasks.
create or replace function forebay.clear_embedding_tasks(of_owner bigint, before timestamptz, max_jobs int default 1000) returns bigint
language plpgsql as $$
declare
    old bigint[];
    gone bigint;
begin
    old := array(
        select j.id from forebay.job j join forebay.pipeline p on p.id = j.pipeline_id and p.name = 'articles'
        where j.finished_at < before and j.state = 'DONE' and (of_owner is null or j.owner_id = of_owner)
        order by j.finished_at limit max_jobs for update of j skip locked);
    delete from forebay.article_task t where t.job_id = any(old);
    delete from forebay.item i where i.job_id = any(old);
    get diagnostics gone = row_count;
    perform forebay.delete_jobs(old);
    return gone;
end $$;
