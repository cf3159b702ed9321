-- Whether the schema is from before schema parts, when all migrations were numbered together.
select to_regclass('forebay.migration') is not null
   and not exists (select from pg_attribute a where a.attrelid = to_regclass('forebay.migration') and a.attname = 'part')
