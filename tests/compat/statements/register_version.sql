-- Records the definition $1 of a pipeline; $2: new jobs are to go by it. Answers the steps of its version.
select * from forebay.register_pipeline($1::jsonb, $2, $3)
