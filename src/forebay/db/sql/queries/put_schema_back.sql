-- Restores the former schema, if it was set aside, and drops the schema that was read from the backup.
do $$
begin
    if to_regnamespace('forebay_aside') is not null then
        drop schema if exists forebay cascade;
        alter schema forebay_aside rename to forebay;
    end if;
end $$
