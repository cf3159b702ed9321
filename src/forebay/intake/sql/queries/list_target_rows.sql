-- Lists which of the targets $1 have files, or contents of sources that were taken.
select t.target from unnest($1::text[]) as t (target)
where exists (select from forebay.intake_file f where f.target = t.target)
   or exists (select from forebay.intake_taken k where k.target = t.target)
order by t.target
