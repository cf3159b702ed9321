-- How many exports of the owner of export $1 have not ended: among its newest 1,000, up to $2.
select count(*) from (
    select from (
        select e.job_id from forebay.sheet_export e
        where e.owner_id = (select x.owner_id from forebay.sheet_export x where x.job_id = $1::bigint)
        order by e.job_id desc limit 1000) e
    where exists (select from forebay.job j where j.id = e.job_id and j.finished_at is null)
    limit $2::int) o
