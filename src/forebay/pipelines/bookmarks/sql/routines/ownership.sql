-- Declares the owners of rows of bookmarks, and the rights of the service's roles.
select forebay.own('category'), forebay.own('bookmark'), forebay.own('bookmark_change'), forebay.own('bookmark_tag');

-- Workers write it.
select forebay.own('bookmark_step', 'select, delete');
