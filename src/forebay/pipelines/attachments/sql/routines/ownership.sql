-- Declares whose the rows of attachments are. Only workers say how a download ended.
select forebay.own('attachment_instance', 'select, delete'), forebay.own('attachment', 'select, delete'),
       forebay.own('attachment_delivery', 'select, insert');
select forebay.permit('insert (owner_id, source, key, title, state, facts), update (title, state, facts, job_id, received_at, voucher)',
                      'attachment_instance', 'forebay_api', 'forebay_admin'),
       forebay.permit('insert (owner_id, instance_id, key, name, url, expected_size, expected_sha256), '
                      'update (url, status, error)', 'attachment', 'forebay_api', 'forebay_admin'),
       forebay.permit('select', 'attachment_quota', 'forebay_api', 'forebay_admin'),
       forebay.permit('select, insert, update, delete', 'attachment_quota', 'forebay_worker');
