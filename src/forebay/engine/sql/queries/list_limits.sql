-- The keys of limits in use after ($1, $2), by name and key: those of the limit $3, or (if $5 is false) of all others.
-- `starts_at`: the first start that no worker has leased yet, if the limit has a rate.
select k.name, k.key, r.next_at as starts_at, s.hold_s, s.seen_at,
       coalesce(r.waiting, 0) + coalesce(s.waiting, 0) as waiting,
       coalesce(l.slots, 0)::int as slots, coalesce(l.wanted, 0)::int as wanted, coalesce(l.workers, 0)::int as workers
from (
    (select r.name, r.key from forebay.rate_limit r
     where (r.name, r.key) > ($1, $2) and (r.name = $3) = $5
     order by r.name, r.key limit $4)
    union
    (select s.name, s.key from forebay.slot_limit s
     where (s.name, s.key) > ($1, $2) and (s.name = $3) = $5
     order by s.name, s.key limit $4)
    order by name, key limit $4
) k
left join forebay.rate_limit r on r.name = k.name and r.key = k.key
left join forebay.slot_limit s on s.name = k.name and s.key = k.key
left join lateral (
    select sum(e.slots) as slots, sum(e.wanted) as wanted, count(*) as workers
    from forebay.slot_lease e where e.name = k.name and e.key = k.key and e.expires_at > clock_timestamp()
) l on true
order by k.name, k.key
