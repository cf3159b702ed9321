-- Suggests up to $3 of the 500 newest shares of owner $1 whose titles contain the text $2; `place` is where, from 1.
select s.id, s.title, s.url, s.job_id, s.place
from (
    select n.id, n.title, n.url, n.job_id, strpos(lower(n.title), lower($2::text)) as place
    from (select s.id, s.title, s.url, s.job_id from forebay.share s
          where s.owner_id = $1 order by s.id desc limit 500) n
) s
where s.place > 0 order by s.place, s.id desc limit $3
