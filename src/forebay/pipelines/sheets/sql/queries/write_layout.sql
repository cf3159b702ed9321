-- Writes the kind of a file and the mapping of its columns. A mapping that the owner changed meanwhile stays.
update forebay.sheet s set kind = $2, layout = $3::jsonb, columns = $4, mapping = coalesce(s.mapping, $5::jsonb),
    suggestions = $6::jsonb, problem = null
where s.id = $1
