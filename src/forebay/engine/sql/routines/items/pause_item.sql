-- Pauses one item: its runs wait until resume_item().
create or replace function forebay.pause_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql set enable_seqscan = off as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    held record;
begin
    perform forebay.hold_order(array[job.id]);
    perform forebay.open_item(job_id, n);
    with cut as (
        select c.* from forebay.cut_runs(job, pause_item.n) c
    ),
    set_aside as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select 'infinity', c.step_id, forebay.home_lane(c.lane_id, job), job.id, job.owner_id, c.first_n, c.last_n, c.attempt from cut c
    )
    select count(*) as runs, count(*) filter (where c.run_at is distinct from 'infinity') as fresh into held from cut c;
    if held.runs = 0 then
        perform forebay.refuse('FB005', 'n', format(
            'a worker has item %s of job %s at this moment: wait for it, or cancel the item', n, job_id));
    elsif held.fresh > 0 then
        perform forebay.note(actor, 'pause_item', job.owner_id, job.id, n, null, at);
        perform forebay.change_children(job, 'pause', actor, at, n);
    end if;
    return held.fresh > 0;
end $$;
