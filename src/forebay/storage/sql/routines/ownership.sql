-- Declares whose files and blobs are, and what the roles of the service may do with them.

-- Workers make files, as they have had the content in their hands: whoever could make one could read any blob.
select forebay.own('file', 'select, delete');

-- A blob is seen through files: nobody learns what others have.
select forebay.add_policy('blob', 'of_files',
    'for select to forebay_api using (exists (select from forebay.file f where f.sha256 = blob.sha256))');
select forebay.add_policy('blob', 'of_all', 'to forebay_admin, forebay_worker using (true)');
select forebay.permit('select', 'blob', 'forebay_api', 'forebay_admin'), forebay.permit('select', 'waste', 'forebay_admin'),
       forebay.permit('select, insert, update, delete', 'blob', 'forebay_worker'),
       forebay.permit('select, insert, update, delete', 'waste', 'forebay_worker');
