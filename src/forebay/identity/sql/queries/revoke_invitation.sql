-- Revokes invitation $1, if it is open.
delete from forebay.invitation
where id = $1 and account_id is null and used_at is null and expires_at > clock_timestamp() returning role
