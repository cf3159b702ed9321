-- Does to the children of a job, or of one of its items, what was done to it: pause, resume or cancel. The first 100 are changed
-- here, the rest by sweep_children(). Children that are not started yet get the state of their parent when they start.
create or replace function forebay.change_children(
    job forebay.job, action text, actor text, at timestamptz, item_n int default null
) returns void language plpgsql set enable_seqscan = off as $$
begin
    if not exists (select from forebay.job c where c.parent_id = job.id) then
        return;
    end if;
    if item_n is not null then
        perform forebay.change_child(c, action, actor, at)
        from forebay.job c where c.parent_id = job.id and c.parent_n = item_n and c.sealed and c.finished_at is null;
        return;
    end if;
    insert into forebay.child_change as k (job_id, owner_id, action, actor, after_n, after_id)
    values (job.id, job.owner_id, change_children.action, change_children.actor, -1, 0)
    on conflict (job_id) do update set
        action = excluded.action, actor = excluded.actor, after_n = excluded.after_n, after_id = excluded.after_id;
    perform forebay.continue_change(job.id, 100, at);
end $$;
