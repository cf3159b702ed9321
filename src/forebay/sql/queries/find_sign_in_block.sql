-- How many seconds these keys have to wait.
select coalesce(max(extract(epoch from blocked_until - clock_timestamp())), 0)::float8
from forebay.sign_in_failure where key = any($1) and blocked_until > clock_timestamp()
