-- Submits the job of instance $2 of owner $1, unless one is open.
select forebay.submit_attachments($1, $2)
