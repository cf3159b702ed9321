-- The owner, priority and weight of lanes.
select * from forebay.describe_lanes($1)
