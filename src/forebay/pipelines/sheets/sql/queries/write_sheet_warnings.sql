-- Writes the warnings about a file for its owner.
update forebay.sheet s set layout = s.layout || jsonb_build_object('warnings', $2::text[]) where s.id = $1
