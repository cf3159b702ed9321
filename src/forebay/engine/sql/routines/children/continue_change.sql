-- Changes the next max_jobs jobs of children as child_change says. Returns their number.
create or replace function forebay.continue_change(job_id bigint, max_jobs int, at timestamptz) returns int
language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    change forebay.child_change;
    child forebay.job;
    changed int := 0;
begin
    select k.* into change from forebay.child_change k where k.job_id = continue_change.job_id for update;
    if change.job_id is null then
        return 0;
    end if;
    for child in
        select c.* from forebay.job c
        where c.parent_id = change.job_id and (c.parent_n, c.id) > (change.after_n, change.after_id)
        order by c.parent_n, c.id limit max_jobs
    loop
        if child.sealed and child.finished_at is null then
            perform forebay.change_child(child, change.action, change.actor, at);
        end if;
        changed := changed + 1;
    end loop;
    if changed < max_jobs then
        delete from forebay.child_change k where k.job_id = change.job_id;
    else
        update forebay.child_change k set after_n = child.parent_n, after_id = child.id where k.job_id = change.job_id;
    end if;
    return changed;
end $$;
