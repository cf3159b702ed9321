-- Who else waits for a step ($1 bit, $2 pipeline): others than owner $3, at priority $4, for the key $6 of the limit $5.
select c.owners, c.weights, c.higher, c.is_cut from forebay.contention($1, $2, $3, $4::smallint, $5, $6, $7) c
