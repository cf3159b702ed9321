-- Deletes sheets whose jobs are gone, with their files, and ends uploads that nobody continues. Returns which objects of uploads
-- are to be deleted from the store.
create or replace function forebay.tidy_sheets(
    grace interval, now timestamptz default null, out sheets bigint, out objects text[]
) language plpgsql as $$
declare
    before timestamptz := coalesce(now, clock_timestamp()) - grace;
    gone bigint[];
begin
    select t.objects into objects from forebay.tidy_intake('sheets', true, grace, now) t;
    gone := array(
        select s.id from forebay.sheet s
        where s.created_at < before and not exists (select from forebay.job j where j.id = s.job_id)
          and not exists (select from forebay.intake_file f where f.target = 'sheets' and f.reference = s.id)
        order by s.id limit 1000);
    delete from forebay.file f using forebay.sheet_file k where k.sheet_id = any(gone) and f.id = k.file_id;
    delete from forebay.sheet s where s.id = any(gone);
    sheets := cardinality(gone);
end $$;
