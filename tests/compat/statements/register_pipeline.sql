-- Registers the pipeline that $1 defines, unless one with this name exists.
select forebay.register_unknown(cast(cast($1 as text) as jsonb))
