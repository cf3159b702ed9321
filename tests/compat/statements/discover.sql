-- The lanes with ready tasks of these steps.
select * from forebay.discover($1)
