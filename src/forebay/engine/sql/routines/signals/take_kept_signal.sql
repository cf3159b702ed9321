-- Gives a task that begins to wait the oldest signal that was kept for it. When its transaction commits: by then the task is
-- scheduled, whatever the order of its statements was.
create or replace function forebay.take_kept_signal() returns trigger language plpgsql as $$
begin
    perform forebay.give_kept_signal(w, clock_timestamp())
    from forebay.waiting w
    where w.job_id = new.job_id and w.n = new.n and w.bit = new.bit and w.signalled_at is null;
    return null;
end $$;

drop trigger if exists take_kept on forebay.waiting;
create constraint trigger take_kept after insert or update of name, key on forebay.waiting
    deferrable initially deferred for each row execute function forebay.take_kept_signal();
