-- Whether there is a schema whose parts are numbered separately.
select exists (select from pg_attribute a where a.attrelid = to_regclass('forebay.migration') and a.attname = 'part')
