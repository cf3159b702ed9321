-- Makes the items first_n … last_n of a job claimable, now or at run_at, in runs that workers can share.
create or replace function forebay.enqueue(
    job_id bigint, first_n int, last_n int, run_at timestamptz default null, now timestamptz default null
) returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
    job forebay.job;
    at timestamptz := coalesce(now, clock_timestamp());
    root int;
    first_seq bigint;
    next_seq bigint;
begin
    select * into strict job from forebay.job j where j.id = enqueue.job_id;
    for root in
        select s.id from forebay.next_steps(job, 0) s order by s.bit
    loop
        if run_at > at then
            insert into forebay.scheduled (run_at, step_id, lane_id, job_id, owner_id, first_n, last_n)
            select enqueue.run_at, root, job.lane_id, job.id, job.owner_id, f, least(f + 499, enqueue.last_n)
            from generate_series(enqueue.first_n, enqueue.last_n, 500) f;
            next_seq := 0;
        elsif first_n = last_n then
            insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
            values (root, job.lane_id, job.id, job.owner_id, first_n, last_n) returning seq into next_seq;
        else
            with runs as (
                insert into forebay.ready (step_id, lane_id, job_id, owner_id, first_n, last_n)
                select root, job.lane_id, job.id, job.owner_id, f, least(f + 499, enqueue.last_n)
                from generate_series(enqueue.first_n, enqueue.last_n, 500) f
                returning seq)
            select min(seq) into next_seq from runs;
        end if;
        first_seq := coalesce(first_seq, next_seq);
        if next_seq > 0 then
            perform forebay.wake(root, job.lane_id, next_seq, at);
        end if;
    end loop;
    return first_seq;
end $$;
