-- The days from today on without a partition of attempt; and whether any partition exists.
select array(
           select cast(d as date) from generate_series(timezone('UTC', clock_timestamp()), timezone('UTC', clock_timestamp()) + interval '1 day', '1 day') d
           where to_regclass('forebay.attempt_' || to_char(d, 'YYYYMMDD')) is null) as missing,
       exists (select from pg_inherits i where i.inhparent = cast('forebay.attempt' as regclass)
               and i.inhrelid <> cast('forebay.attempt_default' as regclass)) as ever
