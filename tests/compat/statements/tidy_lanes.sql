-- Drops idle lanes.
select forebay.tidy_lanes($1, '1 day')
