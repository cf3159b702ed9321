-- Deletes up to max_rows records of tasks whose jobs are deleted; returns how many.
create or replace function forebay.tidy_article_tasks(max_rows int) returns int language plpgsql as $$
declare gone int;
begin
    delete from forebay.article_task t where (t.job_id, t.item) in (
        select k.job_id, k.item from forebay.article_task k
        where not exists (select from forebay.job j where j.id = k.job_id) order by k.job_id limit max_rows);
    get diagnostics gone = row_count;
    return gone;
end $$;
