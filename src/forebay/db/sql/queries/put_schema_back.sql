-- Puts what was there before a backup was read back in its place, if it is aside. What was read of the backup goes.
do $$
begin
    if to_regnamespace('forebay_aside') is not null then
        drop schema if exists forebay cascade;
        alter schema forebay_aside rename to forebay;
    end if;
end $$
