-- The ids of shares of owner $1 after $2, in order: at most $3.
select array(select s.id from forebay.share s where s.owner_id = $1 and s.id > $2 order by s.id limit $3)
