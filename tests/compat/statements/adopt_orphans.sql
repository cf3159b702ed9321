-- Assigns orphaned runs to a lane.
select forebay.adopt_orphans($1)
