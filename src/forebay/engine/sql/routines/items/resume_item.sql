-- Resumes a paused item.
create or replace function forebay.resume_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    resumed bigint;
begin
    perform forebay.open_item(job_id, n);
    with held as (
        delete from forebay.scheduled s
        where s.job_id = job.id and s.run_at = 'infinity' and resume_item.n between s.first_n and s.last_n
        returning s.*
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select h.step_id, h.lane_id, h.job_id, h.owner_id, h.first_n, h.last_n, h.attempt from held h
        returning step_id, lane_id, seq
    )
    select count(*) + 0 * count(forebay.wake(q.step_id, q.lane_id, q.seq, at)) into resumed from queued q;
    if resumed > 0 then
        perform forebay.note(actor, 'resume_item', job.owner_id, job.id, n, null, at);
    end if;
    return resumed > 0;
end $$;
