-- Declares whose the files that come in are, and what the roles of the service may do with them.

-- What a file has become is for workers to write; so is the name of a part's object, which nobody may choose.
select forebay.own('intake_file', 'select, delete'), forebay.own('intake_part', 'select, delete');
select forebay.permit(
           'insert (target, reference, owner_id, job_id, name, size, options, source, path, version), '
           'update (intake_job_id, problem)', 'intake_file', 'forebay_api', 'forebay_admin'),
       forebay.permit('insert (target, reference, owner_id, start), update (size, sha256)', 'intake_part',
                      'forebay_api', 'forebay_admin'),
       forebay.permit('select, insert, update', 'intake_taken', 'forebay_api', 'forebay_admin'),
       forebay.permit('select, insert, update, delete', 'intake_taken', 'forebay_worker');
select forebay.add_policy('intake_file', 'of_own_job',
    'as restrictive to forebay_api using (true) with check (exists (select from forebay.job j where j.id = job_id))');
