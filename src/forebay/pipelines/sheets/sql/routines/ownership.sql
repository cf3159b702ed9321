-- Declares whose the rows of sheets and catalogues are, and what the roles of the service may do with them.

-- What workers find out about a sheet, and the files of it, are theirs to write.
select forebay.own('sheet', 'select, delete'), forebay.own('sheet_export', 'select, delete'),
       forebay.own('sheet_file', 'select, delete'), forebay.own('sheet_preset', worker_rights => 'select');
select forebay.permit(
           'insert (owner_id, job_id, name, options, providers), update (mapping, providers, turn, problem)', 'sheet',
           'forebay_api', 'forebay_admin'),
       forebay.permit('insert (job_id, sheet_id, owner_id, format, options)', 'sheet_export', 'forebay_api', 'forebay_admin');
select forebay.add_policy('sheet', 'of_own_job',
    'as restrictive to forebay_api using (true) with check (exists (select from forebay.job j where j.id = job_id))');

-- What an administrator shares, everybody may see.
select forebay.own('catalogue', 'select, delete'), forebay.own('product', 'select');
select forebay.permit('update (shared)', 'catalogue', 'forebay_admin');
select forebay.add_policy('catalogue', 'of_shared', 'for select to forebay_api using (shared)'),
       forebay.add_policy('product', 'of_shared', 'for select to forebay_api using '
           '(exists (select from forebay.catalogue c where c.id = product.catalogue_id and c.shared))');
