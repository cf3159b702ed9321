-- The oldest $2 jobs of bookmarks that are open, of owner $1 or of all.
select array(
    select j.id from forebay.job j
    where j.finished_at is null and j.pipeline_id = (select p.id from forebay.pipeline p where p.name = 'bookmarks')
      and ($1::bigint is null or j.owner_id = $1)
    order by j.id limit $2) as ids
