-- The comment in which a migration notes which functions and views it has put there.
select obj_description(cast('forebay' as regnamespace))
