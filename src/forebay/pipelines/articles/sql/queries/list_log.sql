-- What happened to the tasks of article $1, in the order of time.
select l.job_id, l.item, l.at, l.event, l.attempt, l.reason from forebay.embedding_log l
where l.article_id = $1 and l.owner_id = forebay.acting_owner()
order by l.at, l.job_id, l.attempt nulls first, l.event desc limit $2
