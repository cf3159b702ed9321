-- after the routines
-- Bookmarks of a site, newest first.

create index bookmark_site on forebay.bookmark (owner_id, forebay.url_site(url), id);
