-- Registers the pipeline that $1 defines, unless one of that name is there.
select forebay.register_unknown(cast(cast($1 as text) as jsonb))
