-- Removes the rows of deleted objects.
delete from forebay.waste w using unnest($1::bytea[], $2::bigint[]) as gone (sha256, life)
where w.sha256 = gone.sha256 and w.life = gone.life
