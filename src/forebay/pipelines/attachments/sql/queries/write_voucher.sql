-- All files of instance $1 are settled: voucher $2 in file $3, problem $4. A delivery that came meanwhile is worked on next.
select forebay.settle_attachments($1, $2, $3, $4)
