-- The same for owner $2.
with wanted as materialized (
    (select l.job_id as id from forebay.lease l where l.owner_id = $2 group by l.job_id order by count(*) desc limit 20)
    union (select o.id from forebay.job o where o.owner_id = $2 and o.finished_at is null order by o.id desc limit $1::int)
    union (select n.id from forebay.job n where n.owner_id = $2 order by n.id desc limit $1::int)
)
select j.id from wanted w join forebay.job j on j.id = w.id
order by j.finished_at is not null, j.id desc
limit $1::int
