-- The login $1 with the rights of the role $2 and the password $3.
select forebay.make_login($1, $2, $3)
