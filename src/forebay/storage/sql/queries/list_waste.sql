-- Some objects to be deleted, the longest waiting first. Two who delete the same do no harm.
select sha256, life, size from forebay.waste order by at, sha256, life limit $1
