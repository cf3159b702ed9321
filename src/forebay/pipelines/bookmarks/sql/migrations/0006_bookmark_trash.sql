-- Bookmarks that are deleted go to the trash, from where a chore deletes them for good. Lists leave them out, and so do the narrow
-- indexes that lists and counts are read from.

alter table forebay.bookmark add column deleted_at timestamptz;
create index bookmark_trash on forebay.bookmark (owner_id, id) where deleted_at is not null;

drop index forebay.bookmark_newest;
create index bookmark_newest on forebay.bookmark (owner_id, id) where archived_at is null and deleted_at is null;
drop index forebay.bookmark_category_shown;
create index bookmark_category_shown on forebay.bookmark (owner_id, category_id)
    where archived_at is null and deleted_at is null and category_id is not null;
