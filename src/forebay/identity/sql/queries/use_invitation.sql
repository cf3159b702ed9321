-- Uses a valid link. Without an account it is an invitation; the link of a disabled account is invalid.
update forebay.invitation i set used_at = clock_timestamp()
where i.hash = $1 and i.used_at is null and i.expires_at > clock_timestamp()
    and not exists (select from forebay.account a where a.id = i.account_id and a.disabled_at is not null)
returning i.role, (select a.name from forebay.account a where a.id = i.account_id) as account
