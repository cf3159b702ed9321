-- What the owner of a file should know about it beside its rows.
update forebay.sheet s set layout = s.layout || jsonb_build_object('warnings', $2::text[]) where s.id = $1
