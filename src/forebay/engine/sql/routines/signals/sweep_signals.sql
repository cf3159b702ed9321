-- Deletes kept signals that have expired, and gives the recent ones to tasks that wait for them: a signal and a wait that
-- committed at the same time did not see each other. Returns how many were given.
create or replace function forebay.sweep_signals(now timestamptz default null, max_rows int default 1000) returns int
language plpgsql set enable_seqscan = off as $$
declare
    present timestamptz := coalesce(now, clock_timestamp());
    given int;
begin
    delete from forebay.kept_signal where id = any(array(
        select k.id from forebay.kept_signal k where k.expires_at <= present order by k.expires_at limit max_rows for update skip locked));
    select count(*) filter (where forebay.give_kept_signal(w, present)) into given
    from (
        select distinct on (k.owner_id, k.name, k.key) w
        from (select * from forebay.kept_signal k where k.at > present - interval '1 hour' order by k.at desc limit max_rows) k
        join forebay.waiting w on w.owner_id = k.owner_id and w.name = k.name and w.key = k.key and w.signalled_at is null
        -- what an item that has ended waited for stays with it; it must not keep the signal from others
        where exists (
            select from forebay.scheduled s join forebay.step p on p.id = s.step_id and p.bit = w.bit
            where s.job_id = w.job_id and s.first_n = w.n and s.last_n = w.n)
    ) found(w);
    return given;
end $$;
