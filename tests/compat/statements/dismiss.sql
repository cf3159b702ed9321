-- Dismisses dead letters.
select forebay.dismiss($1, $2, $3)
