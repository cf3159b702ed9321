-- The sessions of account $1, the one seen last first; $2 is the one that asks.
select id, created_at, seen_at, expires_at, host(ip) as ip, agent, hash = $2 as current from forebay.session
where account_id = $1 and expires_at > clock_timestamp() order by seen_at desc, id desc
