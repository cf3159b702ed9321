-- Tasks of articles of the acting owner before (job $1, item $2), the newest first, with one of the statuses $3 (null: any), of
-- article $4 (null: all).
select t.* from forebay.embedding_tasks t
where t.owner_id = forebay.acting_owner() and (t.job_id, t.item) < ($1::bigint, $2::int)
  and ($3::text[] is null or t.status = any($3)) and ($4::bigint is null or t.article_id = $4)
order by t.job_id desc, t.item desc limit $5
