-- Documents of the acting owner with all words $1, or some if $2, that match the filter $3; at most $4.
select f.id, f.rank from forebay.find_by_words($1, $2, $3::text::jsonb, $4) f
