-- Articles of owner $1 whose titles begin with $2 (small letters, as a pattern), the last changed first.
select a.id, a.title, a.excerpt from forebay.article a
where a.owner_id = $1 and lower(a.title) like $2::text order by a.updated_at desc limit $3
