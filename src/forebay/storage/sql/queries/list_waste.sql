-- Lists some objects to delete, the oldest first. Deleting an object twice is harmless.
select sha256, life, size from forebay.waste order by at, sha256, life limit $1
