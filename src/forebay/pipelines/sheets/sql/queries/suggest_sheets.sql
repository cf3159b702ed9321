-- Suggests up to $3 of the 500 newest sheets of owner $1 whose names contain the text $2; `place` is where, from 1.
select s.job_id, s.name, s.created_at, s.place
from (
    select n.id, n.job_id, n.name, n.created_at, strpos(lower(n.name), lower($2::text)) as place
    from (select s.id, s.job_id, s.name, s.created_at from forebay.sheet s
          where s.owner_id = $1 and s.replaced_by is null order by s.id desc limit 500) n
) s
where s.place > 0 order by s.place, s.id desc limit $3
