-- Records that article $1 of owner $2 has no vectors of its text, with state $3 and reason $4, unless a newer task waits for it.
update forebay.article a set embedding = $3, problem = $4
where a.id = $1 and a.owner_id = $2 and a.embedding = 'waiting' and a.job_id = $5 and a.item = $6
