-- Shares $1 with the columns of lists.
select * from forebay.show_shares($1)
