-- Who has these tokens, and which of them were not noted as used within the last minute. Those without an account are the
-- service's.
select t.hash, t.id as token_id, t.scopes, a.id, a.owner_id, a.name, a.role,
       coalesce(t.used_at < clock_timestamp() - interval '1 minute', true) as is_unnoted
from forebay.api_token t left join forebay.account a on a.id = t.account_id
where t.hash = any($1) and t.revoked_at is null and coalesce(t.expires_at > clock_timestamp(), true)
  and a.disabled_at is null
