-- Resumes a paused item. Its tasks that wait for a signal go on waiting, until the same time.
create or replace function forebay.resume_item(
    job_id bigint, n int, actor text default current_user, now timestamptz default null
) returns boolean language plpgsql as $$
#variable_conflict use_column
declare
    at timestamptz := coalesce(now, clock_timestamp());
    job forebay.job := forebay.lock_job(job_id);
    runs bigint;
begin
    perform forebay.open_item(job_id, n);
    -- Signals lock these rows, too. The next statement sees those that have reached the item until now.
    perform from forebay.scheduled s
    where s.job_id = job.id and s.run_at = 'infinity' and resume_item.n between s.first_n and s.last_n for update;
    with held as (
        delete from forebay.scheduled s
        where s.job_id = job.id and s.run_at = 'infinity' and resume_item.n between s.first_n and s.last_n
        returning s.*
    ),
    resumed as (
        select h.*, w.expires_at
        from held h
        join forebay.step p on p.id = h.step_id
        left join forebay.waiting w on w.job_id = h.job_id and w.n = resume_item.n and w.bit = p.bit
                                   and w.signalled_at is null and w.expires_at > at
    ),
    waits as (
        insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select least(r.expires_at, at + interval '10 years'), r.step_id, r.lane_id, r.job_id, r.owner_id, r.first_n, r.last_n, r.attempt
        from resumed r where r.expires_at is not null
    ),
    queued as (
        insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n, attempt)
        select r.step_id, r.lane_id, r.job_id, r.owner_id, r.first_n, r.last_n, r.attempt from resumed r where r.expires_at is null
        returning step_id, lane_id, seq
    )
    select (select count(*) from held) + 0 * count(forebay.wake(q.step_id, q.lane_id, q.seq, at)) into runs from queued q;
    if runs > 0 then
        perform forebay.note(actor, 'resume_item', job.owner_id, job.id, n, null, at);
        perform forebay.change_children(job, 'resume', actor, at, n);
    end if;
    return runs > 0;
end $$;
