-- Ends one session, or ($1 null) all sessions of an account.
delete from forebay.session where hash = $1::bytea or $1 is null and account_id = $2::bigint
