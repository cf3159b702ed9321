-- Passes the file of sheet $1 on to sheet $2, which replaces it.
select forebay.replace_sheet($1, $2)
