-- Lists the open invitations, newest first, without sign-in links.
select id, role, created_by, created_at, expires_at from forebay.invitation
where account_id is null and used_at is null and expires_at > clock_timestamp() order by id desc
