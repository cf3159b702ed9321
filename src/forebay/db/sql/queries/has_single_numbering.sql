-- Whether the schema is from before there were parts: its migrations were numbered together.
select exists (select from pg_attribute a where a.attrelid = to_regclass('forebay.migration') and a.attname = 'version')
   and not exists (select from pg_attribute a where a.attrelid = to_regclass('forebay.migration') and a.attname = 'part')
