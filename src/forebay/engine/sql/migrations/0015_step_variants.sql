-- after the routines: they say what makes two steps the same. A pipeline that was registered in between gets its version, too.
insert into forebay.pipeline_version (id, pipeline_id, digest, steps, job_steps, roots, max_input_bytes)
select -p.id, p.id, p.digest, p.steps, p.job_steps, p.roots, p.max_input_bytes from forebay.pipeline p where p.version_id is null;
insert into forebay.version_step
    (version_id, bit, step_id, name, place, needs, downstream, optional, after_all, queue, max_attempts, max_expiries)
select -s.pipeline_id, s.bit, s.id, s.name, row_number() over (partition by s.pipeline_id order by s.bit), s.needs, s.downstream, s.optional, s.after_all, s.queue, s.max_attempts, s.max_expiries
from forebay.step s join forebay.pipeline p on p.id = s.pipeline_id and p.version_id is null where s.active;
update forebay.pipeline p set version_id = -p.id where p.version_id is null;
alter table forebay.step
    drop constraint step_pipeline_id_name_key,
    drop constraint step_pipeline_id_bit_key,
    add constraint step_variant unique (pipeline_id, bit, needs, optional_needs, after_all),
    drop column optional,
    drop column downstream;
drop type forebay.settled_task;
