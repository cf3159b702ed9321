-- Notes a request of source $2 that was not a delivery: verdict $3, reason $4.
select forebay.reject_attachments($1, $2, $3, $4, $5, $6)
