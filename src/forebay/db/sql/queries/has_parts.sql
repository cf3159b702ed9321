-- Whether there is a schema, and one whose parts are numbered by themselves.
select exists (select from pg_attribute a where a.attrelid = to_regclass('forebay.migration') and a.attname = 'part')
