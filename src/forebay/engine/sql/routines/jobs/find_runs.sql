-- Locks and returns the unclaimed runs that contain an item of a job. A task is in one place, so the search for each step that
-- the item can run stops at the first run found, and starts where the job was submitted: what the owner has queued before costs
-- nothing. The run of a small job is near that place, also if it waits in the lane of a key, so the beginnings of all lanes are
-- read before the rest of any. Only for an item that has ended, and may have left tasks of any step behind, it reads on.
create or replace function forebay.find_runs(job forebay.job, item_n int)
returns table (step_id int, lane_id bigint, seq bigint) language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    item forebay.item;
    steps int[];
    wanted int;
    lanes bigint[];
    lane bigint;
    reach int;
    found_seq bigint;
begin
    select i.* into item from forebay.item i where i.job_id = job.id and i.n = item_n;
    if item.status = 'PENDING' then
        steps := array(
            select s.id from forebay.next_steps(job, item.done, item_n = 0) s
            where s.bit & item.dead = 0
              and not exists (select from forebay.lease l where l.job_id = job.id and l.step_id = s.id and l.ns @> item_n)
              and not exists (select from forebay.scheduled t
                              where t.job_id = job.id and t.step_id = s.id and item_n between t.first_n and t.last_n));
    elsif item.status is not null then
        steps := forebay.steps_of(job);
    end if;
    lanes := array(select l.id from unnest(forebay.lanes_of(job)) l(id) order by l.id <> job.lane_id, l.id);
    foreach wanted in array coalesce(steps, '{}') loop
        <<search>>
        foreach reach in array '{100,null}'::int[] loop  -- null: the whole lane
            foreach lane in array lanes loop
                select r.seq into found_seq from (
                    select r.* from forebay.ready r
                    where r.step_id = wanted and r.lane_id = lane and r.seq >= coalesce(job.first_seq, 0)
                    order by r.step_id, r.lane_id, r.seq limit reach) r
                where r.job_id = job.id and r.first_n <= item_n and r.last_n >= item_n limit 1;
                continue when found_seq is null;
                return query
                select r.step_id, r.lane_id, r.seq from forebay.ready r
                where r.step_id = wanted and r.lane_id = lane and r.seq = found_seq
                  and r.job_id = job.id and r.first_n <= item_n and r.last_n >= item_n for update;
                exit search when found;
            end loop;
        end loop;
    end loop;
end $$;
