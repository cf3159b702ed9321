-- Lists the sessions of account $1, the last used first; $2 is the current one.
select id, created_at, seen_at, expires_at, host(ip) as ip, agent, hash = $2 as current from forebay.session
where account_id = $1 and expires_at > clock_timestamp() order by seen_at desc, id desc
