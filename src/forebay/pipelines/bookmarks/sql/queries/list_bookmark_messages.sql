-- Lists the oldest $2 waiting bookmark jobs of owner $1, or of all owners.
select forebay.waiting_bookmarks($1::bigint, $2::int) as ids
