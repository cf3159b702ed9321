-- Revokes token $1 of any holder; returns whether that changed something, or no row when there is no such token.
with ended as (
    update forebay.api_token set revoked_at = clock_timestamp() where id = $1 and revoked_at is null returning id
)
select exists (select from ended) as changed, a.owner_id, t.name
from forebay.api_token t left join forebay.account a on a.id = t.account_id where t.id = $1
