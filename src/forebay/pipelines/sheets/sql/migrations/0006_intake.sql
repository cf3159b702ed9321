-- What every pipeline needs to receive files has a schema part of its own, `intake`: what sheets kept of it moves there.
lock table forebay.sheet, forebay.sheet_piece, forebay.sheet_taken in access exclusive mode;

insert into forebay.intake_file
    (target, reference, owner_id, job_id, intake_job_id, name, size, source, path, version, file_id, created_at, received_at)
select 'sheets', s.id, s.owner_id, s.job_id, s.intake_job_id, s.name, s.size, s.source, s.path, s.version, s.file_id,
       s.created_at, s.received_at
from forebay.sheet s;

insert into forebay.intake_part (target, reference, owner_id, start, name, size, created_at)
select 'sheets', p.sheet_id, p.owner_id, p.start, p.name, p.size, p.created_at from forebay.sheet_piece p;

insert into forebay.intake_taken (target, source, path, version, seen_at)
select 'sheets', t.source, t.path, t.version, t.seen_at from forebay.sheet_taken t;

-- Files that are being received, or are received once more, are found by their reference from now on.
update forebay.item i set input = i.input || jsonb_build_object('reference', i.input -> 'sheetId')
from forebay.sheet s where i.job_id = s.intake_job_id and i.n = 1 and i.input ? 'sheetId';

drop trigger if exists cancel_intake on forebay.audit;  -- intake has one for all targets
drop table forebay.sheet_piece, forebay.sheet_taken;

-- These columns of `sheet` are not used any more: intake_job_id, source, path, version, size, file_id, received_at. They stay for
-- workers of the release before, which look rows up until they are restarted, and go with a later migration.
drop index forebay.sheet_uploading;
do $$ begin
    if forebay.has_roles() then
        revoke insert (size, source, path, version), update (intake_job_id) on forebay.sheet from forebay_api, forebay_admin;
    end if;
end $$;
