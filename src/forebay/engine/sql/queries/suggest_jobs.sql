-- Suggests up to $3 jobs of owner $1: the one with the number $2, and those of the 500 newest whose key or file begins with $2.
select j.id, coalesce(j.file, j.key) as name, p.name as pipeline, j.state::text as state
from (
    select n.id, n.file, n.key, n.pipeline_id, n.state
    from (select j.id, j.file, j.key, j.pipeline_id, j.state from forebay.job j where j.owner_id = $1 order by j.id desc limit 500) n
    where starts_with(lower(n.key), lower($2::text)) or starts_with(lower(n.file), lower($2::text))
    union
    select j.id, j.file, j.key, j.pipeline_id, j.state from forebay.job j
    where j.owner_id = $1 and j.id = case when $2 ~ '^[0-9]{1,18}$' then $2::bigint end
) j
join forebay.pipeline p on p.id = j.pipeline_id
order by j.id::text = $2 desc, j.id desc limit $3
