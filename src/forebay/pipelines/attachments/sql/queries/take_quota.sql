-- Counts a request of app $1, of which $2 a day are allowed; a time is when to try again.
select forebay.take_attachment_quota($1, $2, $3)
