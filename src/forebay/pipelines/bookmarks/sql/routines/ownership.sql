-- Declares whose the rows of bookmarks are, and what the roles of the service may do with them.
select forebay.own('category'), forebay.own('bookmark'), forebay.own('bookmark_change'), forebay.own('bookmark_tag');
