-- Finds the account of a token (null: the service). Updates its last use at most once a minute.
with found as (
    select t.id as token_id, t.scopes, t.used_at, a.id, a.owner_id, a.name, a.role
    from forebay.api_token t left join forebay.account a on a.id = t.account_id
    where t.hash = $1 and t.revoked_at is null and coalesce(t.expires_at > clock_timestamp(), true) and a.disabled_at is null
),
seen as (
    update forebay.api_token t set used_at = clock_timestamp() from found f
    where t.id = f.token_id and coalesce(f.used_at < clock_timestamp() - interval '1 minute', true)
)
select f.token_id, f.scopes, f.id, f.owner_id, f.name, f.role from found f
