-- Ends uploads of a target that nobody continues, and deletes files whose jobs are gone. Returns which objects of parts are to be
-- deleted from the store. keeps_files: the target deletes the stored files itself.
create or replace function forebay.tidy_intake(
    target text, keeps_files boolean, grace interval, now timestamptz default null, out files bigint, out objects text[]
) language plpgsql as $$
declare
    before timestamptz := coalesce(now, clock_timestamp()) - grace;
    gone bigint[];
    abandoned record;
begin
    -- An upload that nobody continues ends its job as cancelled; the job itself is kept as long as others.
    for abandoned in
        select f.reference, f.job_id from forebay.intake_file f
        where f.target = tidy_intake.target and f.intake_job_id is null and f.created_at < before
          and not exists (select from forebay.intake_part p
                          where p.target = f.target and p.reference = f.reference and p.created_at >= before)
        order by f.reference limit 1000 for update skip locked
    loop
        perform forebay.cancel(j.id, 'forebay') from forebay.job j where j.id = abandoned.job_id and j.finished_at is null;
        update forebay.intake_file f set problem = 'the upload was never completed', intake_job_id = 0
        where f.target = tidy_intake.target and f.reference = abandoned.reference;
    end loop;
    -- A job does not wait for a file whose receiving has ended without it, as one that was cancelled.
    perform forebay.cancel(j.id, 'forebay')
    from forebay.job j join forebay.intake_file f on f.job_id = j.id join forebay.job i on i.id = f.intake_job_id
    where f.target = tidy_intake.target and not j.sealed and j.finished_at is null and i.finished_at < before;
    delete from forebay.intake_taken k where k.target = tidy_intake.target and k.seen_at < before - interval '180 days';
    with old as (
        delete from forebay.intake_part p using forebay.intake_file f
        where f.target = tidy_intake.target and p.target = f.target and p.reference = f.reference and p.created_at < before
          and (p.size is null or f.received_at < before or f.intake_job_id = 0
               or exists (select from forebay.job i where i.id = f.intake_job_id and i.finished_at < before))
        returning p.reference, p.name)
    select array_agg(format('uploads/%s/%s', o.reference, o.name)) into objects from old o;
    gone := array(
        select f.reference from forebay.intake_file f
        where f.target = tidy_intake.target and f.created_at < before
          and not exists (select from forebay.job j where j.id = f.job_id)
          and not exists (select from forebay.intake_part p where p.target = f.target and p.reference = f.reference)
        order by f.reference limit 1000);
    with deleted as (
        delete from forebay.intake_file f where f.target = tidy_intake.target and f.reference = any(gone) returning f.file_id)
    delete from forebay.file f using deleted d where f.id = d.file_id and not keeps_files;
    files := cardinality(gone);
    objects := coalesce(objects, '{}');
end $$;
