-- Notes that these tokens were used. Those that another process is writing to are left out: two lists must not wait for each
-- other.
update forebay.api_token t set used_at = clock_timestamp()
from (select u.id from forebay.api_token u where u.id = any($1) for no key update skip locked) u
where t.id = u.id
