-- The dead letters since $1 that the caller may see, counted up to $2.
select count(*) from (select from forebay.dead_letter d where d.at >= $1 limit $2::int) d
