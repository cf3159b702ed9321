-- after the routines: those of before count nothing.
-- formerly 0011
-- The jobs that are there already. Nobody changes a job meanwhile: what is counted here is not added by others, too.
lock table forebay.job in share row exclusive mode;
lock table forebay.tally in exclusive mode;
delete from forebay.tally;
insert into forebay.tally (owner_id, pipeline_id, done, skipped, not_found, error)
select j.owner_id, j.pipeline_id, sum(j.done), sum(j.skipped), sum(j.not_found), sum(j.error)
from forebay.job j group by j.owner_id, j.pipeline_id;
