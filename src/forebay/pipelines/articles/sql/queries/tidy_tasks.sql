-- Deletes some records of tasks whose jobs are deleted.
select forebay.tidy_article_tasks($1::int)
