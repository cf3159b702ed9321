-- Finds which of these objects belong to a blob, or are waste.
select o.sha256, o.life from unnest($1::bytea[], $2::bigint[]) as o (sha256, life)
where exists (select from forebay.blob b where b.sha256 = o.sha256 and b.life = o.life)
   or exists (select from forebay.waste w where w.sha256 = o.sha256 and w.life = o.life)
