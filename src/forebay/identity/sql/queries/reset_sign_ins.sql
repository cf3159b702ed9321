-- Removes the counted sign-in failures of these keys, after the right password.
delete from forebay.sign_in_failure where key = any($1)
