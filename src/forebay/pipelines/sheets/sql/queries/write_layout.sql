-- What a file is, and what its columns hold. A mapping that its owner has changed meanwhile stays.
update forebay.sheet s set kind = $2, layout = $3::jsonb, columns = $4, mapping = coalesce(s.mapping, $5::jsonb),
    suggestions = $6::jsonb, problem = null
where s.id = $1
