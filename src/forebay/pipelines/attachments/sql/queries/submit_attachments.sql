-- Submits the job of instance $2 of owner $1, unless one is open; the voucher is made again.
with waiting as (update forebay.attachment_instance set voucher = 'WAITING' where id = $2)
select forebay.submit_attachments($1, $2)
