-- Where the ready task of an item is, and how many tasks of the same step are before it in its lane. At most max_runs runs are
-- read to find it, and as many to count; is_cut: there were more, so the place is unknown, or the number is a lower bound.
create or replace function forebay.find_ready(
    job forebay.job, step_bit bigint, item_n int, max_runs int,
    out lane_id bigint, out seq bigint, out attempt smallint, out ahead bigint, out is_cut boolean
) language plpgsql stable set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
    variant int;
    lane bigint;
    read record;
    runs_left int := max_runs;
    found_step int;
    before int := 0;
begin
    is_cut := false;
    <<search>>
    for variant in
        select s.id from forebay.step s where s.pipeline_id = job.pipeline_id and s.bit = step_bit order by s.active desc, s.id desc
    loop
        for lane in
            select job.lane_id
            union all (
                select l.id from forebay.lane l
                where l.owner_id = job.owner_id and l.job_id in (0, job.id) and l.id <> job.lane_id limit max_runs)
        loop
            -- A job's runs have places behind its first: what its owner has queued before is not read.
            select count(*) as runs, min(r.seq) filter (where r.job_id = job.id and item_n between r.first_n and r.last_n) as seq
            into read
            from (select r.seq, r.job_id, r.first_n, r.last_n from forebay.ready r
                  where r.step_id = variant and r.lane_id = lane and r.seq >= coalesce(job.first_seq, 0)
                  order by r.step_id, r.lane_id, r.seq limit runs_left) r;
            if read.seq is not null then
                lane_id := lane;
                seq := read.seq;
                found_step := variant;
                exit search;
            end if;
            runs_left := runs_left - read.runs - 1;
            if runs_left <= 0 then
                is_cut := true;
                exit search;
            end if;
        end loop;
    end loop;
    if seq is null then
        return;
    end if;
    select r.attempt, item_n - r.first_n into attempt, before from forebay.ready r
    where r.step_id = found_step and r.lane_id = find_ready.lane_id and r.seq = find_ready.seq;
    select before + coalesce(sum(r.last_n - r.first_n + 1), 0), count(*) >= max_runs into ahead, is_cut
    from (select r.first_n, r.last_n from forebay.ready r
          where r.step_id = found_step and r.lane_id = find_ready.lane_id and r.seq < find_ready.seq
          order by r.step_id, r.lane_id, r.seq limit max_runs) r;
end $$;
