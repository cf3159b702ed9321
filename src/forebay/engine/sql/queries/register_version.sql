-- Records the definition $1 of a pipeline; $2: whether it becomes the present version. Returns the steps of its version.
select * from forebay.register_pipeline(cast(cast($1 as text) as jsonb), cast($2 as boolean), cast($3 as timestamptz))
