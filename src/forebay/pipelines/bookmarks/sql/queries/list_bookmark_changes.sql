-- Lists the changes that crawls detected before $2, newest first.
select c.at, c.title, c.words, c.difference
from forebay.bookmark_change c
where c.bookmark_id = $1 and ($2::timestamptz is null or c.at < $2)
order by c.at desc limit $3
