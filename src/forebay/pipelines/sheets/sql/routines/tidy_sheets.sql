-- Deletes sheets whose jobs are gone, with their files, and uploads that nobody goes on with. Tells which objects of uploads
-- are to be deleted from the store.
create or replace function forebay.tidy_sheets(
    grace interval, now timestamptz default null, out sheets bigint, out objects text[]
) language plpgsql as $$
declare
    before timestamptz := coalesce(now, clock_timestamp()) - grace;
    gone bigint[];
    abandoned record;
begin
    -- An upload that nobody goes on with ends its job as cancelled; the job itself is kept as long as others.
    for abandoned in
        select s.id, s.job_id from forebay.sheet s
        where s.intake_job_id is null and s.created_at < before
          and not exists (select from forebay.sheet_piece p where p.sheet_id = s.id and p.created_at >= before)
        order by s.id limit 1000 for update skip locked
    loop
        perform forebay.cancel(j.id, 'forebay') from forebay.job j where j.id = abandoned.job_id and j.finished_at is null;
        update forebay.sheet s set problem = 'the upload was never completed', intake_job_id = 0 where s.id = abandoned.id;
    end loop;
    -- Rows do not wait for a reading that has ended without an end of theirs, as one that was cancelled.
    perform forebay.cancel(j.id, 'forebay')
    from forebay.job j join forebay.sheet s on s.job_id = j.id join forebay.job i on i.id = s.intake_job_id
    where not j.sealed and j.finished_at is null and i.finished_at < before;
    delete from forebay.sheet_taken k where k.seen_at < before - interval '180 days';
    with old as (
        delete from forebay.sheet_piece p using forebay.sheet s
        where s.id = p.sheet_id and p.created_at < before
          and (p.size is null or s.received_at < before or s.intake_job_id = 0
               or exists (select from forebay.job i where i.id = s.intake_job_id and i.finished_at < before))
        returning p.sheet_id, p.name)
    select array_agg(format('uploads/%s/%s', o.sheet_id, o.name)) into objects from old o;
    gone := array(
        select s.id from forebay.sheet s
        where s.created_at < before and not exists (select from forebay.job j where j.id = s.job_id)
          and not exists (select from forebay.sheet_piece p where p.sheet_id = s.id)
        order by s.id limit 1000);
    delete from forebay.file f using forebay.sheet_file k where k.sheet_id = any(gone) and f.id = k.file_id;
    delete from forebay.sheet s where s.id = any(gone);
    sheets := cardinality(gone);
    objects := coalesce(objects, '{}');
end $$;
