-- Declares the owners of files and blobs, and the rights of the service's roles.

-- Only workers add files, because they have the content: a role that could add a file could read any blob.
select forebay.own('file', 'select, delete'), forebay.own('picture', 'select');

-- Blobs are visible through files only: owners cannot find out what others have.
select forebay.add_policy('blob', 'of_files',
    'for select to forebay_api using (exists (select from forebay.file f where f.sha256 = blob.sha256))');
select forebay.add_policy('blob', 'of_all', 'to forebay_admin, forebay_worker using (true)');
select forebay.permit('select', 'blob', 'forebay_api', 'forebay_admin'), forebay.permit('select', 'waste', 'forebay_admin'),
       forebay.permit('select, insert, update, delete', 'blob', 'forebay_worker'),
       forebay.permit('select, insert, update, delete', 'waste', 'forebay_worker');

select forebay.own('storage_usage', 'select'),
       forebay.permit('select', 'storage_total', 'forebay_api', 'forebay_admin'),
       forebay.permit('select, insert, delete', 'storage_total', 'forebay_worker');
