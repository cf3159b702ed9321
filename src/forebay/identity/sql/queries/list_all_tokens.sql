-- Lists all tokens, those of the account named $1, or (with $2) of the service, newest first, with the account's name.
select a.name as account, t.id, t.name, t.hint, t.scopes, t.created_at, t.expires_at, t.used_at, t.revoked_at
from forebay.api_token t left join forebay.account a on a.id = t.account_id
where ($1::text is null or a.name = $1) and (not $2::boolean or t.account_id is null)
order by t.id desc
