-- A task of articles.
select t.* from forebay.embedding_task_place($1::uuid) p
join forebay.embedding_tasks t on t.job_id = p.job_id and t.item = p.item
where t.owner_id = forebay.acting_owner()
