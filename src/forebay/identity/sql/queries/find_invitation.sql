-- Finds a valid link and its account.
select i.role, a.name as account, a.password is not null as has_password
from forebay.invitation i left join forebay.account a on a.id = i.account_id
where i.hash = $1 and i.used_at is null and i.expires_at > clock_timestamp() and a.disabled_at is null
