-- Documents of the acting owner that model $1 finds to be near to vector $2, and that match the filter $3; at most $4.
select f.id, f.distance, f.starts, f.stops, f.second from forebay.find_by_meaning($1, $2::real[], $3::text::jsonb, $4) f
